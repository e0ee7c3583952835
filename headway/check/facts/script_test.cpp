#include "headway/check/facts/script.h"

#include <gtest/gtest.h>

#include "headway/check/facts/script_imports.h"
#include "headway/check/facts/script_paths.h"
#include "headway/core/fake_machine.h"

namespace headway {
namespace {

// A script in a folder of its own, beside a Python that has numpy.
class OneScript {
 public:
  OneScript() {
    machine.set("/python/numpy/__init__.py", "");
    python.version = "3.11.7", python.folders = {machine.root + "/python"};
    python.standard = {"json", "os", "sys"};
  }
  ScriptFacts read(const std::string& text) {
    machine.set("/job/train.py", text);
    return read_script(machine.root + "/job/train.py", python);
  }

  testing::FakeMachine machine;
  PythonFacts python;
};

std::vector<std::string> names_of(const std::vector<ScriptNeed>& needs) {
  std::vector<std::string> out;
  for (const ScriptNeed& each : needs) out.push_back(each.what + (each.maybe ? "?" : ""));
  return out;
}
using Names = std::vector<std::string>;

TEST(ScriptImports, WhatNobodyHasIsMissing) {
  OneScript script;
  const ScriptFacts facts = script.read(
      "import os, json\n"
      "import numpy as np, timm.models as tm\n"
      "from einops.layers import Rearrange\n"
      "from . import beside\n"
      "try:\n"
      "    import wandb\n"
      "except ImportError:\n"
      "    wandb = None\n"
      "def plot():\n"
      "    import seaborn\n");
  EXPECT_EQ(names_of(facts.modules), (Names{"timm", "einops", "wandb?", "seaborn?"}));
  EXPECT_EQ(facts.modules[0].line, 2);
}

TEST(ScriptImports, ModulesOfItsOwnFolderAreFollowed) {
  OneScript script;
  script.machine.set("/job/nets/__init__.py", "import gone\n");
  script.machine.set("/job/data.py", "import train\nimport lost\n");
  const ScriptFacts facts = script.read("import nets\nimport data\n");
  EXPECT_EQ(names_of(facts.modules), (Names{"gone", "lost"}));
  EXPECT_TRUE(facts.modules[0].file.ends_with("nets/__init__.py"));
}

TEST(ScriptImports, ThoseForTypeCheckersAreNotRun) {
  OneScript script;
  EXPECT_TRUE(script.read("if TYPE_CHECKING:\n    import gone\n").modules.empty());
}

TEST(ScriptPaths, WhatItReadsAndDoesNotMakeIsMissing) {
  OneScript script;
  const ScriptFacts facts = script.read(
      "ROOT = '/no/such/data'\n"
      "table = pd.read_csv(os.path.join(ROOT, 'labels.csv'))\n"
      "os.makedirs('/no/such/out')\n"
      "np.load('/no/such/out/cache.npy')\n"
      "open('/no/such/log.txt', 'w')\n"
      "open('/no/such/log.txt')\n"
      "if os.path.exists('/no/such/weights.pt'):\n"
      "    torch.load('/no/such/weights.pt')\n"
      "datasets.MNIST(root='/no/such/mnist', download=True)\n"
      "images = ImageFolder(root=Path(ROOT) / 'train')\n"
      "open('/proc/self/status')\n");
  EXPECT_EQ(names_of(facts.missing_paths), (Names{"/no/such/data/labels.csv"}));
  EXPECT_EQ(facts.missing_paths[0].line, 2);
}

TEST(ScriptPaths, DefaultsOfArgumentsAreFollowed) {
  OneScript script;
  const ScriptFacts facts = script.read(
      "parser.add_argument('--data-dir', default='/no/such/data')\n"
      "args = parser.parse_args()\n"
      "images = ImageFolder(args.data_dir)\n");
  EXPECT_EQ(names_of(facts.missing_paths), (Names{"/no/such/data"}));
}

TEST(ScriptPaths, WhatIsNotKnownIsNotAccused) {
  OneScript script;
  const ScriptFacts facts = script.read(
      "path = sys.argv[1]\n"
      "open(path)\n"
      "open(f'/no/such/{path}')\n"
      "open('https://host/file')\n"
      "name = '/no/such/a'\n"
      "name = '/no/such/b'\n"
      "open(name)\n");
  EXPECT_TRUE(facts.missing_paths.empty()) << facts.missing_paths[0].what;
}

TEST(Script, GpusAreAskedForInManyWays) {
  for (const char* line :
       {"model.cuda()\n", "model.to('cuda')\n", "device = 'cuda'\n", "x = torch.device(\"cuda\")\n",
        "t = Trainer(accelerator='gpu', devices=1)\n", "with tf.device('/GPU:0'):\n    pass\n",
        "x = torch.zeros(3, device='cuda:0')\n"}) {
    OneScript script;
    const ScriptFacts facts = script.read(line);
    EXPECT_EQ(facts.gpu_line, 1) << line;
    EXPECT_EQ(facts.highest_gpu, 0) << line;
    EXPECT_FALSE(facts.gpu_asked_first);
  }
  OneScript script;
  EXPECT_EQ(script.read("model.to('cpu')\n").gpu_line, 0);
}

TEST(Script, TheHighestGpuCountsAndAQuestionBeforeIt) {
  OneScript script;
  EXPECT_EQ(script.read("a = 'cuda:1'\nb = torch.device('cuda:3')\n").highest_gpu, 3);
  EXPECT_TRUE(script.read("device = 'cuda' if torch.cuda.is_available() else 'cpu'\nm.to('cuda')\n")
                  .gpu_asked_first);
}

TEST(Script, VisibleDevicesThatHideOrComeTooLate) {
  OneScript script;
  EXPECT_EQ(script.read("os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n").hides_gpus_line, 1);
  EXPECT_EQ(script.read("os.environ['CUDA_VISIBLE_DEVICES'] = ''\n").hides_gpus_line, 1);
  const ScriptFacts late = script.read("import torch\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n");
  EXPECT_EQ(late.late_visible_line, 2);
  EXPECT_EQ(late.hides_gpus_line, 0);
}

TEST(Script, LoadersWithTheirWorkersAndBatches) {
  OneScript script;
  const ScriptFacts facts = script.read(
      "WORKERS = 8\n"
      "train = DataLoader(data, batch_size=64, num_workers=WORKERS)\n"
      "test = DataLoader(data, batch_size=8, num_workers=0)\n"
      "torch.set_num_threads(64)\n");
  EXPECT_EQ(facts.workers, 8);
  EXPECT_EQ(facts.workers_line, 2);
  EXPECT_EQ(facts.batch, 64);
  ASSERT_EQ(facts.settings.size(), 1u);
  EXPECT_EQ(facts.settings[0].threads, 64);
}

TEST(Script, OneThatCannotBeReadSaysSo) {
  EXPECT_NE(read_script("/no/such/train.py", {}).trouble.find("/no/such/train.py"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
