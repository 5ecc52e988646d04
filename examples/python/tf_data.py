"""A pipeline of tf.data and a training step of TensorFlow, measured.

    python3 tf_data.py"""

import tensorflow as tf

import prony


def main():
    pictures = tf.random.uniform((512, 32, 32, 3))
    labels = tf.random.uniform((512,), maxval=10, dtype=tf.int32)
    data = (tf.data.Dataset.from_tensor_slices((pictures, labels))
            .shuffle(512).map(lambda x, y: (tf.image.random_flip_left_right(x),
                                            y))
            .batch(64, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    kernel = tf.Variable(tf.random.normal((32 * 32 * 3, 10), stddev=.01))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            scores = tf.reshape(x, (64, -1)) @ kernel
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))
        kernel.assign_sub(.1 * tape.gradient(loss, kernel))
        return loss

    loader = prony.wrap(data, batch_size=64)
    for x, y in loader:
        loss = step(x, y)
    print("loss %.3f; %s" % (loss, loader.verdict["bound"]))


if __name__ == "__main__":
    main()
