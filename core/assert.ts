/** A broken invariant: the process stops, because continuing could corrupt more state. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken'
}

/**
 * Throws InvariantBroken unless the condition holds. For programming errors, never for bad input. On hot
 * paths, test first and call it with `false`: building the message costs more than most checks.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}

/** Marks a branch the types exclude; reaching it is a broken invariant. */
export function unreachable(value: never): never {
  throw new InvariantBroken(`unreachable: ${JSON.stringify(value)}`)
}
