import { text } from '../core/wire/codec.js'
import { optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** What a process adds to the name of its database for a copy that it was asked for. */
export const EXPORT_SUFFIX = '.export'

/** A question on `askExportClaims`: the place of the copy is fixed, so that no question can name another file. */
export const { encode: encodeExportQuestion, decode: decodeExportQuestion } = message(
  'export question',
  since(WIRE_VERSION, struct<Record<string, never>>({})),
)

/** The copy is complete, or why there is none. */
export interface ExportAnswer {
  readonly trouble?: string
}

export const { encode: encodeExportAnswer, decode: decodeExportAnswer } = message(
  'export answer',
  since(WIRE_VERSION, struct<ExportAnswer>({ trouble: optional(text) })),
)
