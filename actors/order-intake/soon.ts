/** How long a request waits for the chain: half of what its caller waits. */
const CHAIN_WAIT_MS = 1_500

/** What the chain said in time, else what `otherwise` makes; a node that hangs is one that cannot be read. */
export async function soon<T>(answer: Promise<T>, otherwise: T): Promise<T> {
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

/** The verdict when the node hangs. */
export const NO_VERDICT = {
  kind: 'unknown',
  cause: new Error(`no verdict within ${CHAIN_WAIT_MS} ms`),
} as const
