/**
 * Writing the JSON of what messages carry, by hand where an order passes: V8 takes several times as long to build an
 * object and turn it into text. Numbers, addresses and the words of closed sets are put in as they are; text that a
 * client or another system chose goes through `quoted`.
 */

/** Any text as JSON. */
export const quoted = (text: string): string => JSON.stringify(text)

/** `,"name":<text as JSON>`, or nothing for an absent text. */
export const optionalText = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":${JSON.stringify(text)}`
