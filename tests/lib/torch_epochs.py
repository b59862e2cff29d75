"""torch_epochs.py SEED EPOCHS N: what a script with torch.manual_seed(SEED) and
DataLoader(shuffle=True) reads, an epoch a line: indices of N files.
"""
import sys


def words(seed):
    """MT19937, seeded with a number (init_genrand)."""
    state = [seed & 0xffffffff]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xffffffff)
    while True:
        for i in range(624):
            y = state[i] & 0x80000000 | state[(i + 1) % 624] & 0x7fffffff
            state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (0x9908b0df if y & 1 else 0)
        for y in state:
            y ^= y >> 11
            y ^= y << 7 & 0x9d2c5680
            y ^= y << 15 & 0xefc60000
            yield y ^ y >> 18


def randperm(seed, n):
    order, draw = list(range(n)), words(seed)
    for i in range(n - 1):
        k = i + next(draw) % (n - i)
        order[i], order[k] = order[k], order[i]
    return order


def main():
    seed, epochs, n = map(int, sys.argv[1:])
    draw = words(seed)
    for _ in range(epochs):
        # Two numbers of two words: the workers' base_seed, then the sampler's seed.
        drawn = [next(draw) for _ in range(4)]
        print(*randperm(drawn[3], n))


main()
