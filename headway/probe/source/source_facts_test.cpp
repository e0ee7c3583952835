#include "headway/probe/source/source_facts.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(SourceFacts, TheLineThatDecodesIsFound) {
  EXPECT_EQ(
      facts_in({"import tensorflow as tf", "# decode_jpeg(x)", "x = tf.io.decode_jpeg(b)"}).decodes,
      3);
  EXPECT_EQ(facts_in({"x = 1"}).decodes, 0);
}

TEST(SourceFacts, ALossThatCannotFallBelowZeroIsFound) {
  EXPECT_EQ(facts_in({"x = 1", "    loss=\"binary_crossentropy\","}).positive_loss, 2);
  EXPECT_EQ(facts_in({"criterion = nn.MSELoss()"}).positive_loss, 1);
  EXPECT_EQ(facts_in({"loss = tf.reduce_mean(tf.square(y - guess))"}).positive_loss, 1);
  EXPECT_EQ(facts_in({"loss = -elbo.mean()"}).positive_loss, 0);
}

TEST(SourceFacts, TheLineThatMakesAScheduleIsFound) {
  EXPECT_EQ(facts_in({"lr = 0.1", "s = torch.optim.lr_scheduler.ExponentialLR(o, 0.9)"}).schedule,
            2);
  EXPECT_EQ(facts_in({"s = optax.exponential_decay(0.1, 10, 0.9)"}).schedule, 1);
  EXPECT_EQ(facts_in({"optimizer = SGD(lr=0.1, weight_decay=1e-4)"}).schedule, 0);
}

TEST(SourceFacts, ALearningRateIsFoundWithAndWithoutItsName) {
  EXPECT_EQ(facts_in({"LEARNING_RATE = 0.3"}).rate, 0.3);
  EXPECT_EQ(facts_in({"x = 1", "tx = optax.adam(1e-3)"}).rate, 1e-3);
  EXPECT_EQ(facts_in({"o = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)"}).rate, 0.1);
  EXPECT_EQ(facts_in({"o = Adam(schedule)", "o = SGD(net.parameters(), lr, 0.9)"}).rate, 0);
}

TEST(SourceFacts, TheLargestBatchSizeThatIsWrittenThereCounts) {
  const SourceFacts both = facts_in({"a = DataLoader(test, batch_size=1)",
                                     "b = DataLoader(train, batch_size = 64, shuffle=True)"});
  EXPECT_EQ(both.batch_size, 64);
  EXPECT_EQ(both.batch, 2);
  EXPECT_EQ(facts_in({"BATCH_SIZE = 2"}).batch_size, 2);
  EXPECT_EQ(facts_in({"x = f(batch_size=n)", "if batch_size == 3: pass"}).batch_size, 0);
}

}  // namespace
}  // namespace headway
