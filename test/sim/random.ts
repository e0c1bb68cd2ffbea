/** All chance of a simulation: the same seed gives the same numbers on every machine. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** A stream of its own, so that what one part draws does not shift what another gets. */
  fork(): Random
}

/** sfc32, seeded by one number. */
export function createRandom(seed: number): Random {
  let [a, b, c, d] = [seed | 0, (seed / 2 ** 32) | 0, 0x9e3779b9, 1]
  const draw = (): number => {
    const t = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    c |= 0
    return t >>> 0
  }
  for (let warm = 0; warm < 16; warm++) draw()
  const next = (): number => draw() / 2 ** 32
  const int = (below: number): number => Math.floor(next() * below)
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]): T => {
      const one = list[int(list.length)]
      if (one === undefined) throw new Error('nothing to pick from')
      return one
    },
    fork: () => createRandom(draw()),
  }
}
