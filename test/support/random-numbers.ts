/** Numbers that are the same in every run. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** So many of some things, the same in every run with a seed. */
export function chosenBy<T>(seed: number, things: readonly T[], count: number): readonly T[] {
  const random = randomNumbers(seed)
  const left = [...things]
  return Array.from({ length: count }, () => left.splice(random(left.length), 1)).flat()
}
