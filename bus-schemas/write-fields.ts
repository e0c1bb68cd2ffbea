/**
 * Writing the JSON of what messages carry, by hand where an order passes: V8 takes several times as long to build an
 * object and turn it into text. Numbers, addresses and the words of closed sets are put in as they are; text that a
 * client or another system chose goes through `jsonText`.
 */
import { jsonText } from '../core/json-text.js'

/** `,"name":<text as JSON>`, or nothing for an absent text. */
export const optionalText = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":${jsonText(text)}`
