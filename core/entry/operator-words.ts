const MAX_TEXT_LENGTH = 200
/** Texts of one line. */
const PLAIN = /^[^\p{Cc}\p{Cs}]+$/u

/** What is wrong with what an operator says of a command for the log; undefined when nothing is. */
export function whyNotPlain(words: {
  readonly by: string
  readonly reason: string
}): string | undefined {
  const { by, reason } = words
  for (const [name, text] of Object.entries({ by, reason })) {
    if (text.length > MAX_TEXT_LENGTH || !PLAIN.test(text)) {
      return `${name} must be one line of 1 to ${MAX_TEXT_LENGTH} characters`
    }
  }
  return undefined
}
