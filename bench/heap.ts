/** Bytes of this process's heap and of what it refers to outside, after collecting garbage, for which `--expose-gc` is needed. */
export async function heapBytes(): Promise<number> {
  // An incremental collection is not complete when the call returns.
  for (let pass = 0; pass < 3; pass += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
