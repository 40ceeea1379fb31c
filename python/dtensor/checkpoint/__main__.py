"""``python -m dtensor.checkpoint verify PATH`` and ``inspect PATH``.

It runs in one process. ``verify`` reads every byte. Exit status 1: something is wrong.
"""

import argparse
import sys

from dtensor.checkpoint._store import Store


def verify(store: Store) -> int:
    """Check every block; print those that are damaged."""
    wrong = 0
    read = 0
    for count, sentence in store.damaged():
        read += count
        if sentence:
            wrong += 1
            print(shown(sentence))
    unchecked = [path for path, _, header in store.files if header.sums is None]
    for path in unchecked:
        print(f"{path}: has no checksums; dtensor did not write it")
    state = f"{wrong} blocks damaged" if wrong else "good"
    print(f"{store.path}: {len(store.entries)} tensors, {read} bytes: {state}")
    return 1 if wrong else 0


def inspect(store: Store) -> int:
    """Print the contents of a checkpoint."""
    for name, (k, entry) in sorted(store.entries.items()):
        dtype = entry.true or entry.stored
        shape = entry.array()[1] if entry.true else entry.stored_shape
        file = f"  {store.files[k][0]}" if len(store.files) > 1 else ""
        size = entry.end - entry.begin
        print(f"{shown(name)}  {dtype}  {shape}  {size} bytes{file}")
    for name, text in sorted(store.values.items()):
        print(f"{shown(name)}  {shown(text)}")
    return 0


def shown(text: str) -> str:
    """Return a text of a file with the control characters of terminals escaped."""
    return text if text.isprintable() else ascii(text)


COMMANDS = {"inspect": inspect, "verify": verify}


def main() -> int:
    """Run a command of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dtensor.checkpoint", description=__doc__
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("path", help="a file, or a directory with model.safetensors")
    options = parser.parse_args()
    try:
        with Store(options.path) as store:
            return COMMANDS[options.command](store)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
