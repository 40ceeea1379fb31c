"""Random arrays: element i of the stream is the same in every layout.

Here: what is taken out of a stream (`stream`), the class `generator`, new `arrays`,
tensors filled `in_place`, `dropout`.
May use: all rooms from `_make` to `create`; `dtensor.random` has the default generator.
Begin with `stream`.
"""
