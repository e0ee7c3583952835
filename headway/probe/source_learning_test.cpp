#include "headway/probe/source_learning.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

const std::string kLoss = "criterion = nn.CrossEntropyLoss()";

TEST(SourceLearning, AModelThatEndsInASoftmaxBeforeACrossentropyIsFound) {
  const auto found = [](const std::vector<std::string>& lines) {
    return learning_in(lines).second_softmax;
  };
  EXPECT_EQ(found({kLoss, "    def forward(self, x):", "        return torch.softmax(x, dim=1)"}),
            3);
  EXPECT_EQ(found({kLoss, "    def forward(self, x):", "        return self.softmax(self.out(x))"}),
            3);
  EXPECT_EQ(found({"net = nn.Sequential(nn.Linear(9, 3), nn.Softmax(dim=1))", kLoss}), 1);
  EXPECT_EQ(found({"net = nn.Sequential(", "    nn.Linear(9, 3),", "    nn.Softmax(dim=-1),", ")",
                   "loss = F.cross_entropy(net(x), y)"}),
            3);
  EXPECT_EQ(found({"x = layers.Dense(5, activation=\"softmax\")(x)",
                   "loss = SparseCategoricalCrossentropy(from_logits=True)"}),
            1);
}

TEST(SourceLearning, ASoftmaxThatIsNotTheOutputIsNone) {
  const auto found = [](const std::string& function, const std::string& line) {
    return learning_in({kLoss, "    def " + function + "(self, x):", "        " + line})
        .second_softmax;
  };
  EXPECT_EQ(found("forward", "return torch.softmax(q @ k, -1) @ v"), 0);
  EXPECT_EQ(found("forward", "return F.log_softmax(x, 1)"), 0);
  EXPECT_EQ(found("forward", "    return torch.softmax(x, 1)"), 0);  // in a branch
  EXPECT_EQ(found("probabilities", "return torch.softmax(x, 1)"), 0);
  EXPECT_EQ(learning_in({"    def forward(self, x):", "        return torch.softmax(x, 1)",
                         "loss = F.nll_loss(net(x).log(), y)"})
                .second_softmax,
            0);
}

TEST(SourceLearning, APlainOutputBeforeALossThatTakesProbabilitiesIsFound) {
  const std::string compile = "model.compile(\"adam\", loss=\"sparse_categorical_crossentropy\")";
  EXPECT_EQ(learning_in({"Dense(64, activation=\"relu\"),", "Dense(10),", compile}).missing_softmax,
            2);
  EXPECT_EQ(learning_in({"Dense(10, activation=\"softmax\"),", compile}).missing_softmax, 0);
  EXPECT_EQ(learning_in({"Dense(10),", "Activation(\"softmax\"),", compile}).missing_softmax, 0);
  EXPECT_EQ(
      learning_in({"Dense(10),", "loss = BinaryCrossentropy(from_logits=True)"}).missing_softmax,
      0);
}

TEST(SourceLearning, WeightsThatStayAreFound) {
  EXPECT_EQ(learning_in({"x = 1", "base.trainable = False"}).held_weights, 2);
  EXPECT_EQ(learning_in({"loss.backward()", "opt.zero_grad()"}).no_step, 1);
  EXPECT_EQ(learning_in({"loss.backward()", "opt.step()"}).no_step, 0);
  EXPECT_EQ(learning_in({"loss.backward()", "w.data -= lr * w.grad"}).no_step, 0);
}

}  // namespace
}  // namespace headway
