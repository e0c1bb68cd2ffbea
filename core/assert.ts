/** A broken invariant: the process that meets one stops, because going on could only make it worse. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken'
}

/**
 * Throws InvariantBroken unless the condition holds. For our own mistakes, never for bad input. Where it matters how long
 * a step takes, the message is made behind a condition: making it costs more than most checks.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}

/** Marks a branch the types exclude; reaching it is a broken invariant. */
export function unreachable(value: never): never {
  throw new InvariantBroken(`unreachable: ${JSON.stringify(value)}`)
}
