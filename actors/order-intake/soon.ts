import type { Answer } from '../../chain/expiring-cache.js'

/** How long a request waits for the chain: half of what its caller waits. */
const CHAIN_WAIT_MS = 1_500

/**
 * What is known or what the chain said in time, else what `otherwise` makes; a node that hangs is one that cannot be read.
 */
export function soon<T>(answer: Answer<T>, otherwise: T): Answer<T> {
  return answer instanceof Promise ? inTime(answer, otherwise) : answer
}

async function inTime<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), CHAIN_WAIT_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What becomes of two answers once both are known: at once when they are. */
export function both<A, B, T>(a: Answer<A>, b: Answer<B>, combine: (a: A, b: B) => T): Answer<T> {
  if (!(a instanceof Promise) && !(b instanceof Promise)) return combine(a, b)
  return Promise.all([a, b]).then(([knownA, knownB]) => combine(knownA, knownB))
}

/** The verdict when the node hangs. */
export const NO_VERDICT = {
  kind: 'unknown',
  cause: new Error(`no verdict within ${CHAIN_WAIT_MS} ms`),
} as const
