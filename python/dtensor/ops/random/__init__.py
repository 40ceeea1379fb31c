"""Random arrays: element i of the stream is the same in every layout.

Here: reading a stream of random words (`stream`), the class `generator`, new `arrays`,
tensors filled `in_place`, `dropout`.
May use: all rooms from `_make` to `create`; `dtensor.random` has the default generator.
Begin with `stream`.
"""
