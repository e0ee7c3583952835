#pragma once

#include <string>
#include <string_view>

// Inside trace/: shapes that hold no secret. What passes none of these is not stored.
namespace headway {

// "64", "1e-3", "0.5,0.5", "224x224", "10GB", "0-3": at most nine digits in a row.
bool is_short_number(std::string_view text);

// Names made of words on the list, short numbers and one or two letters: "bert-base-uncased",
// "cuda:0", "vit_base_patch16_224". An empty text is one, too.
bool is_plain_name(std::string_view text);

// "blue.horse.7": such words, several or with a number, are how people make passwords.
bool is_everyday_compound(std::string_view text);

// Names of any words that can be spoken, with a number behind: "sunny-cat-12", "MyDataset". May be
// a password; harmless where nobody keeps one.
bool is_spoken_name(std::string_view text);

// "data/*.jpg", "/srv/run_3", "labels.txt": parts that can be spoken, and something that only paths
// have.
bool is_plain_path(std::string_view text);

// "9fceb02d0ae598e9", a UUID: hex in small letters, as runs, commits and files are named.
bool is_hash(std::string_view text);

// A path or the name of a file without the hashes in it; as it is when it speaks of secrets.
std::string without_hashes(std::string_view path);

// "patient_id", "TripletMarginLoss", "torch.nn": several words of letters, one of them on the list.
bool is_code_name(std::string_view text);

// "<pad>,<s>", "<|endoftext|>": words in angle brackets, as tokenizers have them.
bool is_marks(std::string_view text);

// "HF_TOKEN": the name of a setting.
bool is_constant(std::string_view text);

// Numbers and names in brackets and pairs, "a:1,b:0.5", {"x": [1, 2]}, none of them a secret's.
bool is_plain_structure(std::string_view text);

// "off", "True", "none", "1": a choice of two is never a secret, whatever its name.
bool is_switch(std::string_view text);

// "exp_2023-03-14_resnet18_wd5e-4", "vit_small_patch16_224.augreg_in21k": three parts or more:
// words, dates, numbers and a few letters with a number. Harmless where a run or a model is named;
// `listed`, with words of the list only, elsewhere, too.
bool is_name_of_run(std::string_view text, bool listed = false);

// "tests/test_loader.py::TestLoader::test_seed[4-True]"
bool is_test_id(std::string_view text);

// "report_%p", "{epoch:02d}.ckpt", "out_${RANK}" without what is filled in later.
std::string without_blanks_to_fill(std::string_view text);

// Can these letters be spoken, as a word or as words in a row ("TFRecordDataset")?
bool is_spoken(std::string_view letters);

}  // namespace headway
