/** The value, or `late` where it takes longer; of one that is rejected after that nothing is heard. */
export async function within<Value, Late = undefined>(
  value: Promise<Value>,
  ms: number,
  late?: Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late as Late), ms)
  })
  try {
    return await Promise.race([value, deadline])
  } finally {
    clearTimeout(timer)
  }
}
