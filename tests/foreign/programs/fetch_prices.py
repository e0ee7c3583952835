# python: plain
# expected: waits-for-server [also accepted: source-never-yields]
# verdict: stuck
# seconds: 18
# where: recv
# Why: the data server takes the connection, sends some batches and then nothing more; the client has no timeout and
# waits in recv for ever. The source gives nothing, too.
import multiprocessing
import socket
import struct


def serve(listener):
    connection, _ = listener.accept()
    for batch in range(50):
        connection.sendall(struct.pack("<256f", *[(batch * 31 + k) % 97 / 97 for k in range(256)]))
    connection.recv(1)


def read_batch(connection):
    parts, missing = [], 1024
    while missing:
        part = connection.recv(missing)
        if not part:
            raise EOFError("server closed the connection")
        parts.append(part)
        missing -= len(part)
    return struct.unpack("<256f", b"".join(parts))


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    multiprocessing.Process(target=serve, args=(listener,), daemon=True).start()
    connection = socket.create_connection(listener.getsockname())
    weights = [0.0] * 256
    for step in range(100000):
        row = read_batch(connection)
        weights = [w + 0.05 * (v - w) for w, v in zip(weights, row)]
        print(f"step {step} mean {sum(weights) / 256:.4f}", flush=True)


if __name__ == "__main__":
    main()
