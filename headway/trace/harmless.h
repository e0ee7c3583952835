#pragma once

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

// Can these letters be spoken, as a word or as words in a row ("TFRecordDataset")?
bool is_spoken(std::string_view letters);

}  // namespace headway
