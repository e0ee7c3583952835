#include "headway/probe/source/source_learning.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// The line of the source with this hint; 0: none.
int64_t line_of(Hint kind, const std::vector<std::string>& lines) {
  const PythonSource source(lines);
  for (const SourceHint& hint : learning_hints_in(source))
    if (hint.kind == kind) return hint.line;
  return 0;
}

const std::string kLoss = "criterion = nn.CrossEntropyLoss()";

TEST(SourceLearning, AModelThatEndsInASoftmaxBeforeACrossentropyIsFound) {
  const auto found = [](const std::vector<std::string>& lines) {
    return line_of(Hint::kSecondSoftmax, lines);
  };
  const std::vector<std::string> model{kLoss, "class Net(nn.Module):", "    def forward(self, x):"};
  auto lines = model;
  lines.push_back("        return torch.softmax(x, dim=1)");
  EXPECT_EQ(found(lines), 4);
  EXPECT_EQ(found({kLoss, "class Net(nn.Module):", "    def __init__(self):",
                   "        self.softmax = nn.Softmax(dim=1)", "    def forward(self, x):",
                   "        x = self.softmax(self.out(x))", "        return x"}),
            6);
  EXPECT_EQ(found({"net = nn.Sequential(nn.Linear(9, 3), nn.Softmax(dim=1))", kLoss}), 1);
  EXPECT_EQ(found({"net = nn.Sequential(", "    nn.Linear(9, 3),", "    nn.Softmax(dim=-1),  # sum",
                   ")", "loss = F.cross_entropy(net(x), y)"}),
            3);
  EXPECT_EQ(found({"y = layers.Dense(5,", "    activation=\"softmax\")(x)",
                   "model = keras.Model(inputs, y)",
                   "loss = SparseCategoricalCrossentropy(from_logits=True)"}),
            1);
  EXPECT_EQ(found({"def predict(p, x):", "    return jax.nn.softmax(x @ p)",
                   "loss = optax.softmax_cross_entropy(predict(p, x), y).mean()"}),
            2);
  EXPECT_EQ(found({"net = nn.Sequential(nn.Linear(9, 1), nn.Sigmoid())",
                   "loss = nn.BCEWithLogitsLoss()(net(x), y)"}),
            1);
}

TEST(SourceLearning, AModelWhoseOutputIsAnExpressionIsFound) {
  EXPECT_EQ(line_of(Hint::kMissingSoftmax,
                    {"def build():", "    x = layers.Dense(9)(inputs)",
                     "    return keras.Model(inputs, layers.Dense(KINDS, name=\"kind\")(x))",
                     "criterion = keras.losses.SparseCategoricalCrossentropy()"}),
            3);
  EXPECT_EQ(line_of(Hint::kMissingSoftmax,
                    {"model = keras.Model(inputs, layers.Dense(3, activation=\"softmax\")(x))",
                     "criterion = keras.losses.SparseCategoricalCrossentropy()"}),
            0);
}

TEST(SourceLearning, AMatrixOfWeightsThatBeginsConstantIsFound) {
  const auto found = [](const std::string& made, const std::string& used,
                        const std::string& other = "h = np.tanh(a)") {
    return line_of(Hint::kConstantWeights, {made, other, used});
  };
  EXPECT_EQ(found("self.weights = np.zeros((before, after))", "y = x @ self.weights + self.bias"),
            1);
  EXPECT_EQ(found("w1 = np.full((64, 32), 0.1)", "h = np.maximum(0, x @ w1)"), 1);
  EXPECT_EQ(found("self.w = np.zeros(9)", "y = x @ self.w"), 0) << "no matrix";
  EXPECT_EQ(found("w = np.zeros((9, 2))", "y = x @ w", "w[0] = rng.normal(size=2)"), 0);
  EXPECT_EQ(found("h = np.zeros((9, 2))", "y = u @ h", "h = np.tanh(u @ x)"), 0) << "a state";
  EXPECT_EQ(found("w = np.zeros((9, 2))", "y = x @ w", "y = 3"), 0) << "one layer learns from zeros";
  EXPECT_EQ(found("images = np.zeros((9, 2))", "y = x @ w"), 0);
}

TEST(SourceLearning, ASoftmaxThatIsNotTheOutputIsNone) {
  const auto found = [](const std::string& function, const std::string& line) {
    return line_of(
        Hint::kSecondSoftmax,
        {kLoss, "class Net(nn.Module):", "    def " + function + "(self, x):", "        " + line});
  };
  EXPECT_EQ(found("forward", "return torch.softmax(q @ k, -1) @ v"), 0);
  EXPECT_EQ(found("forward", "return F.log_softmax(x, 1)"), 0);
  EXPECT_EQ(found("probabilities", "return torch.softmax(x, 1)"), 0);
  EXPECT_EQ(line_of(Hint::kSecondSoftmax,
                    {"    def forward(self, x):", "        return torch.softmax(x, 1)",
                     "loss = F.nll_loss(net(x).log(), y)"}),
            0);
}

TEST(SourceLearning, APlainOutputBeforeALossThatTakesProbabilitiesIsFound) {
  const auto found = [](const std::string& last, const std::string& loss) {
    return line_of(Hint::kMissingSoftmax,
                   {"model = keras.Sequential([", "    layers.Dense(64, activation=\"relu\"),",
                    "    " + last, "])", loss});
  };
  const std::string compile = "model.compile(\"adam\", loss=\"sparse_categorical_crossentropy\")";
  EXPECT_EQ(found("layers.Dense(10),", compile), 3);
  EXPECT_EQ(found("layers.Dense(10, activation=\"softmax\"),", compile), 0);
  EXPECT_EQ(found("layers.Dense(10), layers.Activation(\"softmax\"),", compile), 0);
  EXPECT_EQ(found("layers.Dense(10)", "loss = BinaryCrossentropy(from_logits=True)"), 0);
  EXPECT_EQ(found("layers.Dense(10)", "model.compile(loss=\"mse\")"), 0);
}

TEST(SourceLearning, ASoftmaxOverOneUnitIsFound) {
  EXPECT_EQ(line_of(Hint::kOneUnitSoftmax,
                    {"model = keras.Sequential()", "model.add(Dense(8, activation='relu'))",
                     "model.add(Dense(1, activation='softmax'))"}),
            3);
}

TEST(SourceLearning, AnOutputThatCannotReachItsTargetsIsFound) {
  EXPECT_EQ(line_of(Hint::kBoundedOutput,
                    {"net = nn.Sequential(nn.Linear(9, 1), nn.Tanh())", "loss = nn.MSELoss()"}),
            1);
  EXPECT_EQ(line_of(Hint::kRectifiedOutput,
                    {"net = nn.Sequential(nn.Linear(9, 1), nn.ReLU())", "loss = nn.MSELoss()"}),
            1);
}

TEST(SourceLearning, GradientsThatNobodyUsesAreFound) {
  EXPECT_EQ(line_of(Hint::kNoStep, {"import torch", "loss.backward()", "opt.zero_grad()"}), 2);
  EXPECT_EQ(line_of(Hint::kNoStep, {"import torch", "loss.backward()", "scheduler.step()"}), 2);
  EXPECT_EQ(line_of(Hint::kNoStep, {"import torch", "loss.backward()", "opt.step()"}), 0);
  EXPECT_EQ(line_of(Hint::kNoStep, {"import torch", "loss.backward()", "w.data -= lr * w.grad"}),
            0);
  EXPECT_EQ(line_of(Hint::kClearedGradients, {"for x in data:", "    loss.backward()",
                                              "    opt.zero_grad()", "    opt.step()"}),
            3);
  EXPECT_EQ(line_of(Hint::kClearedGradients,
                    {"for x in data:", "    opt.zero_grad()", "    loss.backward()",
                     "    opt.step()", "    opt.zero_grad()"}),
            0);
}

TEST(SourceLearning, AScheduleOfStepsThatIsGivenEpochsIsFound) {
  const auto found = [](const std::string& call) { return line_of(Hint::kShortSchedule, {call}); };
  EXPECT_EQ(found("rate = keras.optimizers.schedules.CosineDecay(1e-3, EPOCHS, alpha=0.01)"), 1);
  EXPECT_EQ(found("rate = optax.cosine_decay_schedule(1e-3, decay_steps=args.epochs)"), 1);
  EXPECT_EQ(found("rate = CosineDecay(1e-3, EPOCHS * len(pictures) // 64)"), 0);
  EXPECT_EQ(found("rate = CosineDecay(1e-3, steps_per_epoch)"), 0);
  EXPECT_EQ(found("rate = CosineAnnealingLR(optimizer, T_max=EPOCHS)"), 0);
}

TEST(SourceLearning, AnOptimizerWithOtherWeightsIsFound) {
  const std::vector<std::string> loop{"for x in data:", "    loss = f(net(x))",
                                      "    loss.backward()"};
  std::vector<std::string> other{"net = nn.Sequential(a, b)", "spare = copy.deepcopy(net)",
                                 "opt = Adam(spare.parameters())"};
  other.insert(other.end(), loop.begin(), loop.end());
  EXPECT_EQ(line_of(Hint::kOtherWeights, other), 3);
  other[2] = "opt = Adam(net.parameters())";
  EXPECT_EQ(line_of(Hint::kOtherWeights, other), 0);
  EXPECT_EQ(line_of(Hint::kReplacedLayers, {"net = Net()", "opt = SGD(net.parameters(), lr=0.1)",
                                            "net.head = nn.Linear(512, 10)"}),
            2);
}

TEST(SourceLearning, WeightsOfAModelThatIsForgottenAreFound) {
  std::vector<std::string> lines{"def make_optimizer(lr):", "    net = Net()",
                                 "    return Adam(net.parameters(), lr)"};
  EXPECT_EQ(line_of(Hint::kOtherWeights, lines), 3);
  auto closure = lines;
  closure.insert(closure.begin() + 2, {"    def loss():", "        return net(x)"});
  EXPECT_EQ(line_of(Hint::kOtherWeights, closure), 0);
  auto slow = lines;
  slow.insert(slow.begin() + 2,
              {"    big = Net()", "    big.train()", "    mix(big.parameters())"});
  EXPECT_EQ(line_of(Hint::kOtherWeights, slow), 0);
  lines.back() = "    return net, Adam(net.parameters(), lr)";
  lines.insert(lines.begin() + 2, "    net.train()");
  EXPECT_EQ(line_of(Hint::kOtherWeights, lines), 0);
}

TEST(SourceLearning, WeightsThatCannotBeginToLearnAreFound) {
  EXPECT_EQ(line_of(Hint::kHeldWeights, {"x = 1", "base.trainable = False"}), 2);
  EXPECT_EQ(line_of(Hint::kConstantWeights, {"nn.init.zeros_(self.fc.weight)"}), 1);
  EXPECT_EQ(line_of(Hint::kConstantWeights, {"nn.init.zeros_(self.fc.bias)"}), 0);
  EXPECT_EQ(line_of(Hint::kSaturatingLayers,
                    {"for _ in range(20):", "    layers += [nn.Linear(64, 64), nn.Sigmoid()]"}),
            2);
  EXPECT_EQ(
      line_of(Hint::kCutGradient, {"out = net(x).detach()", "loss = f(out)", "loss.backward()"}),
      1);
  EXPECT_EQ(line_of(Hint::kCutGradient, {"loss.backward()", "total += loss.detach()"}), 0);
}

TEST(SourceLearning, ARateIsHighOrLowForItsOptimizer) {
  const auto high = [](const std::vector<std::string>& lines) {
    return line_of(Hint::kHighRate, lines);
  };
  EXPECT_EQ(high({"opt = torch.optim.Adam(net.parameters(), lr=0.5)"}), 1);
  EXPECT_EQ(high({"opt = torch.optim.SGD(net.parameters(), 0.5)"}), 0);
  EXPECT_EQ(high({"LR = 0.3", "tx = optax.adam(LR)"}), 2);
  EXPECT_EQ(high({"p.add_argument(\"--lr\", type=float, default=1.0)",
                  "opt = keras.optimizers.Adam(args.lr)"}),
            2);
  EXPECT_EQ(high({"args = TrainingArguments(", "    learning_rate=0.05)"}), 1);
  EXPECT_EQ(high({"opt = keras.optimizers.Adam(1e-3)"}), 0);
  EXPECT_EQ(line_of(Hint::kLowRate, {"opt = Adam(net.parameters(), lr=1e-7)"}), 1);
}

TEST(SourceLearning, PicturesThatNobodyScalesAreFound) {
  const std::string made = "x = rng.integers(0, 256, (n, 28, 28)).astype(\"float32\")";
  EXPECT_EQ(line_of(Hint::kUnscaledInput, {made}), 1);
  EXPECT_EQ(line_of(Hint::kUnscaledInput, {made, "x /= 255"}), 0);
}

TEST(SourceLearning, AStepOnOneLineOrOfTwoOptimizersClearsNothing) {
  const auto found = [](const std::vector<std::string>& lines) {
    return line_of(Hint::kClearedGradients, lines);
  };
  EXPECT_EQ(found({"opt.zero_grad(); loss.backward(); opt.step()"}), 0);
  EXPECT_EQ(found({"d_loss.backward()", "g_opt.zero_grad()", "d_opt.step()"}), 0);
}

TEST(SourceLearning, ASoftmaxOnTheWayToTheLossIsNotMissing) {
  const std::vector<std::string> model{
      "class Net(nn.Module):", "    def __init__(self):", "        self.fc = nn.Linear(9, 3)",
      "    def forward(self, x):", "        return self.fc(x)"};
  const auto found = [&](const std::string& loss) {
    auto lines = model;
    lines.push_back(loss);
    return line_of(Hint::kMissingSoftmax, lines);
  };
  EXPECT_EQ(found("loss = F.nll_loss(net(x), y)"), 5);
  EXPECT_EQ(found("loss = F.nll_loss(F.log_softmax(net(x), 1), y)"), 0);
  EXPECT_EQ(found("loss = nn.BCELoss()(torch.sigmoid(net(x)), y)"), 0);
}

TEST(SourceLearning, ALayerIsWhatItWasMadeAsNotWhatItIsCalled) {
  EXPECT_EQ(line_of(Hint::kSecondSoftmax,
                    {kLoss, "class Net(nn.Module):", "    def __init__(self):",
                     "        self.softmax = nn.LogSoftmax(dim=1)",
                     "    def forward(self, x):", "        return self.softmax(x)"}),
            0);
}

TEST(SourceLearning, AModelThatOnlyShowsAnotherOneIsNotTheOneThatLearns) {
  EXPECT_EQ(line_of(Hint::kSecondSoftmax, {"model = keras.Sequential([layers.Dense(10)])",
                                           "loss = SparseCategoricalCrossentropy(from_logits=True)",
                                           "shown = keras.Sequential([model, layers.Softmax()])"}),
            0);
}

TEST(SourceLearning, AnotherOptionIsNoRate) {
  EXPECT_EQ(line_of(Hint::kHighRate, {"p.add_argument(\"--lr-decay\", default=0.5)",
                                      "p.add_argument(\"--lr\", default=1e-3)",
                                      "opt = Adam(net.parameters(), lr=args.lr)"}),
            0);
  EXPECT_EQ(line_of(Hint::kHighRate, {"p.add_argument('--learning-rate', default=0.9)",
                                      "opt = keras.optimizers.Adam(args.learning_rate)"}),
            2);
}

TEST(SourceLearning, WhatNobodyWroteByHandIsNotRead) {
  std::vector<std::string> lines(20000, "    return a");
  lines.front() = "def net(x):";
  EXPECT_TRUE(learning_hints_in(PythonSource(lines)).empty());
}

TEST(SourceLearning, AModelThatIsMadeAnewBehindItsOptimizerIsFound) {
  std::vector<std::string> lines{"class Net(pl.LightningModule):",
                                 "    def __init__(self):",
                                 "        self.net = build(64)",
                                 "        self.opt = torch.optim.Adam(self.net.parameters())",
                                 "    def setup(self, stage):",
                                 "        self.net = build(180)"};
  EXPECT_EQ(line_of(Hint::kReplacedLayers, lines), 4);
  lines.pop_back();
  EXPECT_EQ(line_of(Hint::kReplacedLayers, lines), 0);
}

TEST(SourceLearning, ALossThatRoundsItsOutputHasNoGradient) {
  std::vector<std::string> lines{
      "def f1(params, x, y):", "    flagged = jnp.round(jax.nn.sigmoid(network(params, x)))",
      "    return 1 - jnp.sum(flagged * y)",
      "loss, gradients = jax.value_and_grad(f1)(params, x, y)"};
  EXPECT_EQ(line_of(Hint::kCutGradient, lines), 2);
  lines[3] = "hits = f1(params, x, y)";
  EXPECT_EQ(line_of(Hint::kCutGradient, lines), 0);
}

TEST(SourceLearning, UpdatesThatAreMadeAndDroppedAreFound) {
  std::vector<std::string> lines{
      "import optax",
      "def step(params, state, x):", "    updates, state = tx.update(grads, state, params)",
      "    optax.apply_updates(params, updates)", "    return params, state, loss"};
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 4);
  lines[3] = "    new_params = optax.apply_updates(params, updates)";
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 4);
  lines[3] = "    params = optax.apply_updates(params, updates)";
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 0);
  lines[3] = "    return optax.apply_updates(params, updates), state, loss";
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 0);
}

TEST(SourceLearning, GradientsOfATapeThatNobodyAppliesAreFound) {
  std::vector<std::string> lines{"import tensorflow as tf", "with tf.GradientTape() as tape:",
                                 "    loss = loss_of(model(x), y)",
                                 "grads = tape.gradient(loss, model.trainable_variables)"};
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 4);
  lines.push_back("optimizer.apply_gradients(zip(grads, model.trainable_variables))");
  EXPECT_EQ(line_of(Hint::kNoStep, lines), 0);
}

TEST(SourceLearning, SigmoidsByHandInEveryLayerSaturate) {
  std::vector<std::string> lines{"def f(z):", "    return 1.0 / (1.0 + np.exp(-z))",
                                 "for w, b in zip(self.w, self.b):", "    x = f(x @ w + b)"};
  EXPECT_EQ(line_of(Hint::kSaturatingLayers, lines), 4);
  lines[2] = "for step in range(1000):";
  EXPECT_EQ(line_of(Hint::kSaturatingLayers, lines), 0);
}

}  // namespace
}  // namespace headway
