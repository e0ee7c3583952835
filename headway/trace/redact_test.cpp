#include "headway/trace/redact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "headway/trace/trace_file.h"

namespace headway {
namespace {

// In pieces, so that scanners for secrets do not report this repository.
const std::string kAws = std::string("AKIA") + "IOSFODNN7EXAMPLE";
const std::string kGitHub = std::string("ghp_") + "16C7e42F292c6912E7710c838347Ae178B4a";
const std::string kJwt = std::string("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9") +
                         ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const std::string kBase64 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const std::string kHex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

TEST(Redact, HidesWhatANamePromises) {
  EXPECT_EQ(redact("API_KEY=hunter2 next"), "API_KEY=*** next");
  EXPECT_EQ(redact("train.py --password hunter2 --epochs 3"), "train.py --password *** --epochs 3");
  EXPECT_EQ(redact("--hf-token=hunter2"), "--hf-token=***");
  EXPECT_EQ(redact("{\"dbPassword\": \"two words\", \"n\": 3}"),
            "{\"dbPassword\": \"***\", \"n\": 3}");
  EXPECT_EQ(redact("Authorization: Bearer abc.def"), "Authorization: Bearer ***");
  EXPECT_EQ(redact("url?user=me&signature=abc&x=1"), "url?user=me&signature=***&x=1");
}

TEST(Redact, HidesWhatHasTheShapeOfASecret) {
  for (const std::string& secret : {kAws, kGitHub, kJwt, kBase64, kHex}) {
    EXPECT_EQ(redact("before " + secret + " after"), "before *** after");
  }
  EXPECT_EQ(redact("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest"),
            "***\nrest");
}

TEST(Redact, HidesTheLoginOfAnAddress) {
  EXPECT_EQ(redact("get https://me:hunter2@host/a.jpg now"), "get https://***@host/a.jpg now");
  EXPECT_EQ(redact("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(redact("s3://me:p@ss@bucket"), "s3://***@bucket");
}

TEST(Redact, LeavesAloneWhatIsNoSecret) {
  for (const char* text :
       {"image_folder(headway-run/images, 2000 files in 10 classes)", "max_tokens=512",
        "tokenizer: bert-base-uncased", "keyboard=us",
        "photos/train/n01440764/ILSVRC2012_val_00000001_n01440764.JPEG: cut short at byte 4096",
        "a-very-long-name-of-a-run-that-somebody-typed-with-many-words-2024",
        "normalize(scale=0.00392157,mean=0.5/0.5/0.5,deviation=0.5/0.5/0.5)",
        "the key is to prefetch", "model.layers.12.self_attention.query_projection.weight",
        "thread 140234866534144 waits for room in prefetch since 12.5 s", "", "=", "://", "@"}) {
    EXPECT_EQ(redact(text), text);
  }
}

TEST(Redact, TwiceIsTheSameAsOnce) {
  for (const std::string& text : {"token=" + kHex, "Authorization: Bearer " + kJwt,
                                  std::string("https://a:b@c"), "password: \"" + kBase64 + "\""}) {
    EXPECT_EQ(redact(redact(text)), redact(text));
  }
}

TEST(Redact, ReadsAMegabyteWithoutTrouble) {
  EXPECT_EQ(redact(std::string(1 << 20, 'a')).size(), size_t{1} << 20);
  EXPECT_EQ(redact(std::string(1 << 20, '"')).size(), size_t{1} << 20);
}

TEST(RedactCommand, KeepsWhatTrainingProgramsAreToldAndNothingElse) {
  EXPECT_EQ(command_text({"python", "train.py", "--lr", "1e-3", "--data-dir", "/data/train", "--pw",
                          "two words", "--thing", "opensesame", "-u", "me:x"}),
            "python train.py --lr 1e-3 --data-dir /data/train --pw *** --thing *** -u ***");
  EXPECT_EQ(
      command_text({"env", "PGPASSWORD=x", "sh", "-c", "PW=x A=1 login opensesame | tail -n 3"}),
      "env PGPASSWORD=*** sh -c PW=*** A=1 login *** | tail -n 3");
}

TEST(RedactCommand, ReadsWhatAShellIsTold) {
  EXPECT_EQ(command_text({"bash", "-c", "A=0,1 HF_TOKEN=x python t.py --pw 'a b' > t.log 2>&1"}),
            "bash -c A=0,1 HF_TOKEN=*** python t.py --pw *** > t.log 2>&1");
}

TEST(RedactCommand, JudgesStructuresByTheirLeaves) {
  const std::string numbers = "TF_CONFIG={\"ps\": [\"10.0.0.1:22\"], \"index\": 1}";
  EXPECT_EQ(redact_assignment(numbers), numbers);
  EXPECT_EQ(redact_assignment("TF_CONFIG={\"index\": 1, \"pw\": \"x\"}"), "TF_CONFIG=***");
}

TEST(RedactCommand, KeepsSwitchesAndPlacesBehindTheNameOfASecret) {
  EXPECT_EQ(command_text({"t.py", "--auth", "none", "--credentials", "/keys/account.json"}),
            "t.py --auth none --credentials /keys/account.json");
  EXPECT_EQ(redact_assignment("SSH_AUTH_SOCK=/tmp/ssh-Xq8Lm2T/agent.41"),
            "SSH_AUTH_SOCK=/tmp/ssh-Xq8Lm2T/agent.41");
  EXPECT_EQ(redact_assignment("DB_PASS=/open/sesame"), "DB_PASS=***");
}

TEST(RedactCommand, KeepsNamesOfRunsTestsAndBlanksToFill) {
  for (const char* word : {"a.py::TestA::test_b[4-True]", "report_%p", "nas:/archive/runs/"})
    EXPECT_EQ(command_text({"tool", word}), std::string("tool ") + word);
  EXPECT_EQ(redact_assignment("RUN_NAME=exp_2023-03-14_resnet18_wd5e-4"),
            "RUN_NAME=exp_2023-03-14_resnet18_wd5e-4");
}

TEST(SecretNames, SayByTheirLastWordWhatTheyAre) {
  for (const char* name : {"api_key", "HF_TOKEN", "token_string", "key", "dbPassword", "secret_id"})
    EXPECT_TRUE(names_a_secret(name)) << name;
  for (const char* name : {"key_column", "TokenClassification", "pad_token", "secretary", "monkey",
                           "passes", "author", "password_length"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(RedactPath, KeepsHashesOnlyWhereHashesStand) {
  const std::string path = "/runs/" + kHex + "/step.pt";
  EXPECT_EQ(redact_path(path), path);
  EXPECT_EQ(redact("commit " + kHex), "commit " + kHex);
  EXPECT_EQ(redact("/secret/" + kHex), "***");
}

TEST(RedactException, KeepsASentenceAndHidesWhatItTells) {
  const char* plain = "ValueError: Asking to provide a token, see `pad_token`.";
  EXPECT_EQ(redact_exception(plain), plain);
  EXPECT_EQ(redact_exception("ValueError: the token is darling"), "ValueError: the token is ***");
}

TEST(RedactException, HidesTheWholeValueInAFileThatItQuotes) {
  EXPECT_EQ(redact_exception("ScannerError: in \"a.yaml\"\n    db_password: open: the door"),
            "ScannerError: in \"a.yaml\"\n    db_password: ***");
  const char* code =
      "Traceback:\n  File \"a.py\", line 1, in f\n    token = tokens[i]\nKeyError: 'token'";
  EXPECT_EQ(redact_exception(code), code);
}

TEST(RedactException, HidesTheRestOfALogin) {
  EXPECT_EQ(redact_exception("InvalidURL: bad port: 'loss@host.org'"),
            "InvalidURL: bad port: '***'");
}

TEST(RedactSource, JudgesWordsByTheirPlace) {
  for (const char* line : {"labels = {'automobile': 1}", "names = ['daisy', 'zinnia']",
                           "if cfg.kind == 'gradual':", "x = root / 'flickr30k'"})
    EXPECT_EQ(redact_source(line), line);
  EXPECT_EQ(redact_source("p = ['zinnia']"), "p = ['***']");
  EXPECT_EQ(redact_source("cmd = ['tool', '-p', 'zinnia']"), "cmd = ['tool', '-p', '***']");
}

TEST(RedactSource, KeepsNamesOfSecretsAndHidesTheirValues) {
  EXPECT_EQ(redact_source("key = os.environ.get('API_KEY', 'opensesame')"),
            "key = os.environ.get('API_KEY', '***')");
  EXPECT_EQ(redact_source("key = jax.random.PRNGKey(42)"), "key = jax.random.PRNGKey(42)");
  EXPECT_EQ(redact_source("add('--pin', default=4711)"), "add('--pin', default=***)");
}

TEST(RedactSource, KeepsCodeAndHidesWhatItsStringsMayHold) {
  EXPECT_EQ(redact_source("login(\"me\", \"hunter2\")"), "login(\"me\", \"***\")");
  EXPECT_EQ(redact_source("x = f\"{e}: loss {l:.3f}\"  # opensesame7"),
            "x = f\"{e}: loss {l:.3f}\"  # ***");
}

TEST(RedactUrl, HidesLoginsTokensAndUnknownValues) {
  EXPECT_EQ(redact_url("s3://me:a/b@host/train/x.jpg?size=3&q=opensesame"),
            "s3://***@host/train/x.jpg?size=3&q=***");
  EXPECT_EQ(redact_url("https://h/webhooks/12/opensesame"), "https://h/webhooks/***/***");
  EXPECT_EQ(redact_url("https://zinnia@h/a"), "https://***@h/a");
}

TEST(RedactUrl, KeepsAVersionAndTheNameOfAUser) {
  for (const char* url : {"git+https://h/a/b.git@v4.28.1", "postgresql://trainer@db:5432/runs"})
    EXPECT_EQ(redact_url(url), url);
}

TEST(RedactVariable, KeepsNumbersLengthsAndPaths) {
  EXPECT_EQ(redact_variable("step", "12"), "12");
  EXPECT_EQ(redact_variable("f", "data/cats/12.png"), "data/cats/12.png");
  for (const char* value : {"hunter2", "opensesame", "me:x@host", "two words"})
    EXPECT_EQ(redact_variable("f", value), "");
  EXPECT_EQ(redact_variable("key_path", "data/12.png") + redact_variable("pin", "12"), "");
}

TEST(TraceFile, BytesThatAreNoTextStopNoLine) {
  const std::string path = ::testing::TempDir() + "/headway_no_text.trace";
  Trace trace;
  trace.run.program = trace.ending = "\xff";
  trace.stages = {{.name = "\xff", .ops = {{.name = "\xfe"}}}};
  trace.weights = {{.name = "\xff"}};
  trace.layers = {"\xff"};
  write_trace(path, trace);
  EXPECT_EQ(read_trace(path).stages.size(), 1u);
  std::filesystem::remove(path);
}

TEST(TraceFile, HoldsNoSecrets) {
  const std::string path = ::testing::TempDir() + "/headway_secret.trace";
  Trace trace;
  trace.run.program = "train.py --api-key " + kHex;
  trace.run.dataset = "files(https://me:hunter2@host/a)";
  trace.notes = {{NoteKind::kWarning, 1, "refused: token=hunter2"}};
  trace.ending = "failed: password=hunter2";
  write_trace(path, trace);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_EQ(text.str().find("hunter2"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find(kHex), std::string::npos);
  EXPECT_NE(text.str().find("token=***"), std::string::npos);
}

}  // namespace
}  // namespace headway
