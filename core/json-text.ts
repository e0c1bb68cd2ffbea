/** What stands in JSON as it is, and is ASCII. */
const PLAIN = /^[ !#-[\]-~]*$/
const BEYOND_ASCII = /[^\0-\x7f]/g

/** Any text as a JSON string. Nearly every text is plain, which is found out sooner than it is escaped. */
export const jsonText = (text: string): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)

/** The same in ASCII, whatever the text: up to twice as long as in UTF-8, but a byte a character. */
export const asciiJsonText = (text: string): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(text).replace(BEYOND_ASCII, escaped)

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
