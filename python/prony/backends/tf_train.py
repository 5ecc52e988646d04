"""Optimisers in TensorFlow, by PyTorch's formulas."""

import tensorflow as tf


class Trainer:
    """A batch forward and backward, and an update."""

    def __init__(self, net, optimizer, keep):
        self.net, self.how = net, optimizer
        self.state = {}
        if optimizer["name"] == "adam":
            self.powers = [tf.Variable(1.0, trainable=False) for _ in range(2)]
        count = (2 if optimizer["name"] == "adam"
                 else int(optimizer["momentum"] > 0))
        for name, v in net.learned().items():
            # Adam's betas are 1 in bfloat16, its epsilon is 0 in float16.
            kind = tf.float32 if count == 2 else v.dtype
            self.state[name] = [tf.Variable(tf.zeros(v.shape, kind),
                                            trainable=False)
                                for _ in range(count)]
        self.kept = {n: tf.Variable(tf.zeros_like(v), trainable=False)
                     for n, v in net.learned().items()} if keep else {}

    def step(self, batch):
        learned = self.net.learned()
        with tf.GradientTape() as tape:
            found = self.net.values(batch)
            loss = self.net.loss(found)
        grads = tape.gradient(loss, list(learned.values()))
        grads = {n: g for n, g in zip(learned, grads) if g is not None}
        self._update(learned, self._clipped(grads))
        return found[self.net.model.spec["output"]], loss

    def _clipped(self, grads):
        """As torch.nn.utils.clip_grad_norm_."""
        clip = self.how.get("clip") or 0
        if not clip:
            return grads
        # Rows of an embedding that came several times are one in the norm.
        grads = {n: tf.convert_to_tensor(g) for n, g in grads.items()}
        norm = tf.linalg.global_norm(list(grads.values()))
        share = tf.minimum(1.0, clip / (norm + 1e-6))
        return {n: g * tf.cast(share, g.dtype) for n, g in grads.items()}

    def _update(self, learned, grads):
        how, is_adam = self.how, self.how["name"] == "adam"
        if is_adam:
            for power, beta in zip(self.powers, (how["beta1"], how["beta2"])):
                power.assign(power * beta)
        for name, g in grads.items():
            v = learned[name]
            if name in self.kept:
                self.kept[name].assign(tf.convert_to_tensor(g))
            if not (is_adam or how["momentum"] or how["weight_decay"]) \
                    and isinstance(g, tf.IndexedSlices):
                v.scatter_sub(tf.IndexedSlices(
                    g.values * how["learning_rate"], g.indices))
                continue
            g = tf.convert_to_tensor(g)
            if how["weight_decay"]:
                g += how["weight_decay"] * v
            (self._adam if is_adam else self._sgd)(name, v, g)

    def _sgd(self, name, v, g):
        rate = tf.constant(self.how["learning_rate"], v.dtype)
        if not self.state[name]:
            v.assign_sub(rate * g)
            return
        tf.raw_ops.ResourceApplyMomentum(
            var=v.handle, accum=self.state[name][0].handle, lr=rate, grad=g,
            momentum=tf.constant(self.how["momentum"], v.dtype))

    def _adam(self, name, v, g):
        """PyTorch adds epsilon after the correction, TensorFlow before."""
        how = self.how
        first, second = self.state[name]
        one, two = self.powers
        epsilon = how["epsilon"] * tf.sqrt(1 - two)
        if v.dtype == tf.float32:
            tf.raw_ops.ResourceApplyAdam(
                var=v.handle, m=first.handle, v=second.handle,
                beta1_power=one, beta2_power=two, lr=how["learning_rate"],
                beta1=how["beta1"], beta2=how["beta2"], epsilon=epsilon,
                grad=g)
            return
        g = tf.cast(g, tf.float32)
        first.assign_add((1 - how["beta1"]) * (g - first))
        second.assign_add((1 - how["beta2"]) * (g * g - second))
        rate = how["learning_rate"] * tf.sqrt(1 - two) / (1 - one)
        v.assign_sub(tf.cast(rate * first / (tf.sqrt(second) + epsilon),
                             v.dtype))

    def gradients(self):
        return {"grad." + n: self.net.array(n, g)
                for n, g in self.kept.items()}
