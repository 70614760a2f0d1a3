"""Convolutional networks for images."""

import math

from .graph import Graph, pair


class ImageGraph(Graph):
    """Values are images, or vectors; shapes are without the batch."""

    def __init__(self, name, title, image):
        super().__init__(name, title)
        self.input("image", ("N",) + image)

    def conv(self, name, x, channels, kernel, stride=1, pad=0, group=1, bias=False):
        """Kernel and padding are one number or (height, width)."""
        kernel, pad = pair(kernel), pair(pad)
        weight = (channels, self.shapes[x][0] // group) + kernel
        shapes = {"weight": weight, "bias": (channels,)} if bias else {"weight": weight}
        operands = self._parameters(name, **shapes)
        size = self._windows(x, kernel, stride, pad)
        self.count(x, 2 * math.prod(weight) * math.prod(size))
        return self.node(name, "Conv", [x] + operands, (channels,) + size, kernel_shape=kernel,
                          strides=pair(stride), pads=pad * 2, group=group)

    def batch_norm(self, name, x, epsilon=1e-5):
        channels = self.shapes[x][:1]
        operands = self._parameters(name, weight=channels, bias=channels)
        statistics = {f"{name}_mean": channels, f"{name}_var": channels}
        self._add_inputs(statistics)
        return self.node(name, "BatchNormalization", [x] + operands + list(statistics),
                          self.shapes[x], [f"{name}_mean_next", f"{name}_var_next"],
                          epsilon=epsilon, training_mode=1)

    def max_pool(self, name, x, kernel, stride, pad=0):
        return self._pool(name, "MaxPool", x, kernel, stride, pad)

    def average_pool(self, name, x, kernel, stride, pad=0):
        return self._pool(name, "AveragePool", x, kernel, stride, pad,
                          count_include_pad=int(pad > 0))

    def global_average_pool(self, name, x):
        return self.node(name, "GlobalAveragePool", [x], (self.shapes[x][0], 1, 1))

    def relu6(self, name, x):
        self.constants["float zero"], self.constants["float six"] = 0, 6
        return self.node(name, "Clip", [x, "zero", "six"], self.shapes[x])

    def _windows(self, x, kernel, stride, pad):
        return tuple((extent + 2 * p - k) // stride + 1
                     for extent, k, p in zip(self.shapes[x][1:], kernel, pad))

    def _pool(self, name, kind, x, kernel, stride, pad, **attributes):
        size = self._windows(x, pair(kernel), stride, pair(pad))
        return self.node(name, kind, [x], self.shapes[x][:1] + size, kernel_shape=pair(kernel),
                          strides=pair(stride), pads=pair(pad) * 2, **attributes)


def alexnet():
    g = ImageGraph("alexnet", ["AlexNet in one tower, with dropout: torchvision's."], (3, 224, 224))
    x = "image"
    for i, (channels, kernel, stride, pad) in enumerate(
            [(64, 11, 4, 2), (192, 5, 1, 2), (384, 3, 1, 1), (256, 3, 1, 1), (256, 3, 1, 1)], 1):
        with g.section(f"stage {i}", x):
            x = g.conv(f"conv{i}", x, channels, kernel, stride, pad, bias=True)
            x = g.relu(f"relu{i}", x)
            if i in (1, 2, 5):
                x = g.max_pool(f"pool{i}", x, 3, 2)
    with g.section("classifier", x):
        x = g.flatten("flat", x)
        for i in (6, 7):
            x = g.dropout(f"drop{i}", x)
            x = g.linear(f"fc{i}", x, 4096)
            x = g.relu(f"relu{i}", x)
        g.linear("fc8", x, 1000)
    return g


def vgg16(image=224, pad=1, pool=2):
    """TopoOpt's has images of 229, a pad of 2, and windows of 3 in its pools."""
    g = ImageGraph("vgg16", ["VGG-16, configuration D of Simonyan and Zisserman (2014)."],
              (3, image, image))
    x = "image"
    for stage, (count, channels) in enumerate(
            [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        with g.section(f"stage {stage}", x):
            for i in range(1, count + 1):
                x = g.conv(f"conv{stage}_{i}", x, channels, 3, pad=pad, bias=True)
                x = g.relu(f"relu{stage}_{i}", x)
            x = g.max_pool(f"pool{stage}", x, pool, 2)
    with g.section("classifier", x):
        x = g.flatten("flat", x)
        for i in (6, 7):
            x = g.linear(f"fc{i}", x, 4096)
            x = g.relu(f"relu{i}", x)
            x = g.dropout(f"drop{i}", x)
        g.linear("fc8", x, 1000)
    return g


def resnet50():
    g = ImageGraph("resnet50",
              ["ResNet-50 of He et al. (2015) as torchvision has it: in a block that halves the",
               "image, the 3 x 3 convolution has the stride."], (3, 224, 224))
    x = "image"
    with g.section("stem", x):
        x = g.conv("conv1", x, 64, 7, stride=2, pad=3)
        x = g.relu("relu", g.batch_norm("bn1", x))
        x = g.max_pool("maxpool", x, 3, 2, pad=1)

    def block(name, x, channels, stride):
        y = g.conv(f"{name}_conv1", x, channels, 1)
        y = g.relu(f"{name}_relu1", g.batch_norm(f"{name}_bn1", y))
        y = g.conv(f"{name}_conv2", y, channels, 3, stride, pad=1)
        y = g.relu(f"{name}_relu2", g.batch_norm(f"{name}_bn2", y))
        y = g.conv(f"{name}_conv3", y, 4 * channels, 1)
        y = g.batch_norm(f"{name}_bn3", y)
        if g.shapes[x] != g.shapes[y]:
            x = g.conv(f"{name}_downsample_conv", x, 4 * channels, 1, stride)
            x = g.batch_norm(f"{name}_downsample_bn", x)
        return g.relu(f"{name}_relu3", g.add(f"{name}_add", y, x))

    for layer, (count, channels) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
        for i in range(count):
            with g.section(f"layer{layer}.{i}", x):
                x = block(f"layer{layer}_{i}", x, channels, 2 if i == 0 and layer > 1 else 1)
    with g.section("classifier", x):
        g.linear("fc", g.flatten("flat", g.global_average_pool("avgpool", x)), 1000)
    return g


def resnet_cifar(depth=20):
    """6 n + 2 layers, of 16, 32 and 64 channels; shortcuts are convolutions where the shape
    changes (option B)."""
    if depth < 8 or depth % 6 != 2:
        raise SystemExit(f"error: --depth: expected 6 n + 2 layers (20, 32, 56), found {depth}")
    g = ImageGraph("resnet_cifar",
                   [f"ResNet-{depth} of He et al. (2015), section 4.2, for CIFAR-10."],
                   (3, 32, 32))
    x = "image"
    with g.section("stem", x):
        x = g.relu("relu", g.batch_norm("bn1", g.conv("conv1", x, 16, 3, pad=1)))

    def block(name, x, channels, stride):
        y = g.conv(f"{name}_conv1", x, channels, 3, stride, pad=1)
        y = g.relu(f"{name}_relu1", g.batch_norm(f"{name}_bn1", y))
        y = g.batch_norm(f"{name}_bn2", g.conv(f"{name}_conv2", y, channels, 3, pad=1))
        if g.shapes[x] != g.shapes[y]:
            x = g.conv(f"{name}_downsample_conv", x, channels, 1, stride)
            x = g.batch_norm(f"{name}_downsample_bn", x)
        return g.relu(f"{name}_relu2", g.add(f"{name}_add", y, x))

    for layer, channels in enumerate((16, 32, 64), 1):
        for i in range((depth - 2) // 6):
            with g.section(f"layer{layer}.{i}", x):
                x = block(f"layer{layer}_{i}", x, channels, 2 if i == 0 and layer > 1 else 1)
    with g.section("classifier", x):
        g.linear("fc", g.flatten("flat", g.global_average_pool("avgpool", x)), 10)
    return g


def inception_v3():
    g = ImageGraph("inception_v3",
              ["Inception-v3 of Szegedy et al. (2015) as torchvision has it, without the auxiliary",
               "classifier, for images of 299 x 299."], (3, 299, 299))

    def conv(name, x, channels, kernel, stride=1, pad=0):
        y = g.conv(f"{name}_conv", x, channels, kernel, stride, pad)
        return g.relu(name, g.batch_norm(f"{name}_bn", y, epsilon=0.001))

    def chain(name, x, layers):
        """Layers of one branch: (suffix, channels, kernel, stride); a stride of 1
        keeps the size."""
        for suffix, channels, kernel, stride in layers:
            pad = tuple(k // 2 if stride == 1 else 0 for k in pair(kernel))
            x = conv(name + suffix, x, channels, kernel, stride, pad)
        return x

    def pooled(name, x, channels):
        y = g.average_pool(f"{name}_pool", x, 3, 1, pad=1)
        return conv(f"{name}_branch_pool", y, channels, 1)

    def block_a(name, x, channels):
        return [chain(f"{name}_branch1x1", x, [("", 64, 1, 1)]),
                chain(f"{name}_branch5x5", x, [("_1", 48, 1, 1), ("_2", 64, 5, 1)]),
                chain(f"{name}_branch3x3dbl", x,
                      [("_1", 64, 1, 1), ("_2", 96, 3, 1), ("_3", 96, 3, 1)]),
                pooled(name, x, channels)]

    def block_b(name, x):
        return [chain(f"{name}_branch3x3", x, [("", 384, 3, 2)]),
                chain(f"{name}_branch3x3dbl", x,
                      [("_1", 64, 1, 1), ("_2", 96, 3, 1), ("_3", 96, 3, 2)]),
                g.max_pool(f"{name}_branch_pool", x, 3, 2)]

    def block_c(name, x, c):
        row, column = (1, 7), (7, 1)
        return [chain(f"{name}_branch1x1", x, [("", 192, 1, 1)]),
                chain(f"{name}_branch7x7", x,
                      [("_1", c, 1, 1), ("_2", c, row, 1), ("_3", 192, column, 1)]),
                chain(f"{name}_branch7x7dbl", x,
                      [("_1", c, 1, 1), ("_2", c, column, 1), ("_3", c, row, 1),
                       ("_4", c, column, 1), ("_5", 192, row, 1)]),
                pooled(name, x, 192)]

    def block_d(name, x):
        return [chain(f"{name}_branch3x3", x, [("_1", 192, 1, 1), ("_2", 320, 3, 2)]),
                chain(f"{name}_branch7x7x3", x,
                      [("_1", 192, 1, 1), ("_2", 192, (1, 7), 1), ("_3", 192, (7, 1), 1),
                       ("_4", 192, 3, 2)]),
                g.max_pool(f"{name}_branch_pool", x, 3, 2)]

    def fork(name, x, suffix):
        """A 1 x 3 and a 3 x 1 convolution of the same value."""
        halves = [conv(f"{name}_{suffix}a", x, 384, (1, 3), pad=(0, 1)),
                  conv(f"{name}_{suffix}b", x, 384, (3, 1), pad=(1, 0))]
        return g.concat(name, halves)

    def block_e(name, x):
        one = chain(f"{name}_branch1x1", x, [("", 320, 1, 1)])
        y = chain(f"{name}_branch3x3", x, [("_1", 384, 1, 1)])
        three = fork(f"{name}_branch3x3", y, 2)
        y = chain(f"{name}_branch3x3dbl", x, [("_1", 448, 1, 1), ("_2", 384, 3, 1)])
        return [one, three, fork(f"{name}_branch3x3dbl", y, 3), pooled(name, x, 192)]

    x = "image"
    with g.section("stem", x):
        x = conv("Conv2d_1a_3x3", x, 32, 3, stride=2)
        x = conv("Conv2d_2a_3x3", x, 32, 3)
        x = conv("Conv2d_2b_3x3", x, 64, 3, pad=1)
        x = g.max_pool("maxpool1", x, 3, 2)
        x = conv("Conv2d_3b_1x1", x, 80, 1)
        x = conv("Conv2d_4a_3x3", x, 192, 3)
        x = g.max_pool("maxpool2", x, 3, 2)
    for name, block, *arguments in [
            ("Mixed_5b", block_a, 32), ("Mixed_5c", block_a, 64), ("Mixed_5d", block_a, 64),
            ("Mixed_6a", block_b), ("Mixed_6b", block_c, 128), ("Mixed_6c", block_c, 160),
            ("Mixed_6d", block_c, 160), ("Mixed_6e", block_c, 192), ("Mixed_7a", block_d),
            ("Mixed_7b", block_e), ("Mixed_7c", block_e)]:
        with g.section(name, x):
            x = g.concat(name, block(name, x, *arguments))
    with g.section("classifier", x):
        x = g.dropout("dropout", g.global_average_pool("avgpool", x))
        g.linear("fc", g.flatten("flat", x), 1000)
    return g


def densenet121():
    g = ImageGraph("densenet121",
              ["DenseNet-121 of Huang et al. (2016), growth rate 32. Every layer appends its 32",
               "channels to what it has read."], (3, 224, 224))

    def norm_relu_conv(name, i, x, channels, kernel):
        x = g.relu(f"{name}_relu{i}", g.batch_norm(f"{name}_norm{i}", x))
        return g.conv(f"{name}_conv{i}", x, channels, kernel, pad=kernel // 2)

    x = "image"
    with g.section("stem", x):
        x = g.conv("conv0", x, 64, 7, stride=2, pad=3)
        x = g.relu("relu0", g.batch_norm("norm0", x))
        x = g.max_pool("pool0", x, 3, 2, pad=1)
    for block, count in enumerate([6, 12, 24, 16], 1):
        for layer in range(1, count + 1):
            name = f"block{block}_layer{layer}"
            with g.section(name.replace("_", "."), x):
                y = norm_relu_conv(name, 1, x, 128, 1)
                y = norm_relu_conv(name, 2, y, 32, 3)
                x = g.concat(name, [x, y])
        if block < 4:
            name = f"transition{block}"
            with g.section(name, x):
                x = norm_relu_conv(name, "", x, g.shapes[x][0] // 2, 1)
                x = g.average_pool(f"{name}_pool", x, 2, 2)
    with g.section("classifier", x):
        x = g.relu("relu5", g.batch_norm("norm5", x))
        g.linear("classifier", g.flatten("flat", g.global_average_pool("avgpool", x)), 1000)
    return g


def mobilenet_v2():
    g = ImageGraph("mobilenet_v2", ["MobileNet-v2 of Sandler et al. (2018)."], (3, 224, 224))

    def conv(name, x, channels, kernel, stride=1, group=1, rectify=True):
        x = g.conv(name, x, channels, kernel, stride, pad=kernel // 2, group=group)
        x = g.batch_norm(f"{name}_bn", x)
        return g.relu6(f"{name}_relu", x) if rectify else x

    def block(name, x, channels, stride, expansion):
        inner = g.shapes[x][0] * expansion
        y = conv(f"{name}_expand", x, inner, 1) if expansion > 1 else x
        y = conv(f"{name}_depthwise", y, inner, 3, stride, group=inner)
        y = conv(f"{name}_project", y, channels, 1, rectify=False)
        return g.add(f"{name}_add", x, y) if g.shapes[x] == g.shapes[y] else y

    x, i = "image", 0
    with g.section("stem", x):
        x = conv("stem", x, 32, 3, stride=2)
    for expansion, channels, count, stride in [
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1)]:
        for repetition in range(count):
            i += 1
            with g.section(f"block {i}", x):
                x = block(f"block{i}", x, channels, stride if repetition == 0 else 1, expansion)
    with g.section("classifier", x):
        x = conv("head", x, 1280, 1)
        x = g.flatten("flat", g.global_average_pool("avgpool", x))
        x = g.dropout("dropout", x, ratio=0.2)
        g.linear("fc", x, 1000)
    return g


MODELS = {model.__name__: model
          for model in (alexnet, vgg16, resnet50, resnet_cifar, inception_v3, densenet121,
                        mobilenet_v2)}
# examples/alexnet is older and has no dropout; resnet_cifar has an option.
FILES = [name for name in MODELS if name not in ("alexnet", "resnet_cifar")]
