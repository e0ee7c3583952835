#pragma once

#include <string>
#include <string_view>

// Inside trace/: shapes of text that hold no secret. Text with none of these shapes is not stored.
namespace headway {

// "64", "1e-3", "0.5,0.5", "224x224", "10GB", "0-3": at most nine digits in a row.
bool is_short_number(std::string_view text);

// Names made of words on the list, short numbers and one or two letters: "bert-base-uncased",
// "cuda:0", "vit_base_patch16_224". An empty text counts, too.
bool is_plain_name(std::string_view text);

// "blue.horse.7": several everyday words, or one with a number; people make passwords like this.
bool is_everyday_compound(std::string_view text);

// Names of any pronounceable words, with a number at the end: "sunny-cat-12", "MyDataset". Could be
// a password; harmless only in places where nobody puts one.
bool is_spoken_name(std::string_view text);

// "data/*.jpg", "/srv/run_3", "labels.txt": pronounceable parts, and something that only paths
// have.
bool is_plain_path(std::string_view text);

// "9fceb02d0ae598e9", a UUID: lower-case hex that names runs, commits and files.
bool is_hash(std::string_view text);

// A path or file name without the hashes in it; unchanged if it mentions a secret.
std::string without_hashes(std::string_view path);

// "patient_id", "TripletMarginLoss", "torch.nn": several words of letters, one of them on the list.
bool is_code_name(std::string_view text);

// "<pad>,<s>", "<|endoftext|>": words in angle brackets, as tokenizers use them.
bool is_marks(std::string_view text);

// "HF_TOKEN": the name of a setting.
bool is_constant(std::string_view text);

// Numbers and names in brackets and pairs, "a:1,b:0.5", {"x": [1, 2]}, none of them for a secret.
bool is_plain_structure(std::string_view text);

// "off", "True", "none", "1": a choice between two values is never a secret, whatever its name.
bool is_switch(std::string_view text);

// "exp_2023-03-14_resnet18_wd5e-4", "vit_small_patch16_224.augreg_in21k": at least three parts:
// words, dates, numbers, a few letters with a number. Harmless as the name of a run or a model;
// with `listed` (only words on the list) harmless elsewhere, too.
bool is_name_of_run(std::string_view text, bool listed = false);

// "tests/test_loader.py::TestLoader::test_seed[4-True]"
bool is_test_id(std::string_view text);

// "report_%p", "{epoch:02d}.ckpt", "out_${RANK}" without the placeholders.
std::string without_blanks_to_fill(std::string_view text);

// Can these letters be pronounced, as a word or as several words ("TFRecordDataset")?
bool is_spoken(std::string_view letters);

}  // namespace headway
