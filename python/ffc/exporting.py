"""A module as an ONNX file that trains as the module would."""

import copy
import inspect
import warnings


def export(module, example, path, loss=None, dynamic_batch=True):
    """Writes `module` to the ONNX file `path`, for ffc to train as PyTorch would.

    `example` is what forward() takes: a tensor, or a tuple or a dictionary of them. Nothing is
    folded, merged or untied, values have the names of the module's parameters and buffers, and
    layers are in training mode: dropout drops, batch normalisation takes the statistics of the
    batch. The module stays as it is. Raises ValueError where
    `example` is not what forward() takes.

    `loss`: None, and the file ends with the output, which ffc compares with a target (--loss). Or
    a function of the output and a target, such as torch.nn.CrossEntropyLoss(); the target is the
    last of `example` then, called "target" in a dictionary, and the file has the loss as its first output: compile it with
    --loss=none.

    With `dynamic_batch`, dimension 0 of every tensor of `example` that has the extent of the
    first one's is left open, for ffc's --batch-size. Where a module does not allow that, it has
    the example's, and a warning says so.
    """
    import torch

    names = _parameters_of(module)
    if isinstance(example, torch.Tensor):
        example = (example,)
    if loss is not None:
        names = names[:len(example) - 1] + ["target"]
    if len(example) > len(names):
        raise ValueError(f"expected at most {len(names)} inputs of forward "
                         f"({', '.join(names)}), found {len(example)}")
    names = names[:len(example)]
    if isinstance(example, dict):
        if set(example) != set(names):
            raise ValueError(f"expected the first inputs of forward, {', '.join(names)}, found "
                             f"{', '.join(example)}")
        example = [example[name] for name in names]
    inputs = dict(zip(names, example))
    trained = _trained(module)
    if loss is not None:
        trained = _with_loss(trained, loss, list(inputs))
    if dynamic_batch:
        try:
            return _write(trained, inputs, path, _open_batch(inputs))
        except Exception as error:  # whatever of it does not follow symbols
            warnings.warn(f"the batch of {path} is that of the example, since the module does not "
                          f"allow another: {str(error).strip().splitlines()[0]}", stacklevel=2)
    return _write(trained, inputs, path, None)


def _parameters_of(module):
    """The names of what forward() takes."""
    return [name for name, parameter in inspect.signature(module.forward).parameters.items()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]


def _trained(module):
    """The same module in training mode, with the same tensors."""
    memo = {id(tensor): tensor for tensor in [*module.parameters(), *module.buffers()]}
    return copy.deepcopy(module, memo).train()


def _with_loss(module, loss, names):
    """The module with a forward() that ends with the loss. Names of parameters stay."""
    forward = module.forward

    def with_loss(*inputs):
        return loss(forward(*inputs[:-1]), inputs[-1])

    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    with_loss.__signature__ = inspect.Signature([inspect.Parameter(name, kinds) for name in names])
    module.forward = with_loss
    return module


def _open_batch(inputs):
    import torch

    first = next((value for value in inputs.values() if value.dim() > 0), None)
    batch = torch.export.Dim("batch", min=1)
    return {name: {0: batch} if value.dim() > 0 and value.shape[0] == first.shape[0] else None
            for name, value in inputs.items()}


def _write(module, inputs, path, dynamic_shapes):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs),
                          dynamo=True, optimize=False, verbose=False, external_data=False,
                          dynamic_shapes=dynamic_shapes and tuple(dynamic_shapes.values()))
    return path
