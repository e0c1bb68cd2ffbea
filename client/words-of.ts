/** What an error says. A wallet's rejection is an object that is not an Error. */
export const wordsOf = (error: unknown): string => {
  if (error instanceof Error) return error.message
  const { message } = (error ?? {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : String(error)
}
