/** The value, or `late` (by default undefined) where it takes longer than `ms`. A rejection after that is ignored. */
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
