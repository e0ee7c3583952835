// Chapter 1 of the guide: a folder of images becomes batches, and the position is saved.
#include <headway/headway.h>

#include <cstdio>

using namespace headway;

Dataset batches_of(const std::string& folder) {
  return image_folder(folder)
      .shuffle()
      .decode_image()
      .resize({.height = 64, .width = 64})
      .random_flip()
      .normalize({})
      .batch(32);
}

void count(const Dataset& batches) {
  int64_t number = 0, images = 0;
  for (const Batch& batch : batches) {
    if (number++ == 0) std::printf("first batch: %s\n", batch.str().c_str());
    images += batch["image"].dim(0);
  }
  std::printf("%d images in %d batches\n", int(images), int(number));
}

// Takes five batches, notes the position, and goes on from it in a second pipeline.
bool resumes(const Dataset& batches) {
  Pipeline pipeline = batches.start();
  for (int i = 0; i < 5; ++i) pipeline.next();
  const PipelineState position = pipeline.save();

  Pipeline resumed = batches.start({.state = position});
  return pipeline.next()->same(*resumed.next());
}

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: first_feed FOLDER"), 2;
  try {
    const Dataset batches = batches_of(argv[1]);
    std::puts(batches.describe().c_str());
    count(batches);
    const bool same = resumes(batches);
    std::printf("batch 6 is the same after a resume: %s\n", same ? "yes" : "no");
    return same ? 0 : 1;
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
