import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { asyncApiDocument } from '../../api-gateway/asyncapi.js'
import { clientFrames, serverFrames } from '../../interface/socket.js'
import { close } from './documented.js'

/** The document of the WebSocket as the gateway serves it. */
export const feedDocument = asyncApiDocument()

const schemas = close(feedDocument.components.schemas) as object
const ajv = new Ajv2020({ strictTypes: false, validateFormats: false })
ajv.addVocabulary(['components', 'example'])

function validatorsOf(frames: object): Map<string, ValidateFunction> {
  return new Map(
    Object.keys(frames).map((name) => {
      const payload = feedDocument.components.messages[name]?.payload as object
      return [name, ajv.compile({ ...payload, components: { schemas } })]
    }),
  )
}

const fromServer = validatorsOf(serverFrames)
const fromClient = validatorsOf(clientFrames)

const namesIn = (validators: Map<string, ValidateFunction>, frame: unknown): string[] =>
  [...validators].filter(([, validate]) => validate(frame)).map(([name]) => name)

/** Which of the document's messages a frame of the venue is; exactly one, or the document is wrong. */
export const serverMessagesOf = (frame: unknown): string[] => namesIn(fromServer, frame)

/** The same for a frame of a client. */
export const clientMessagesOf = (frame: unknown): string[] => namesIn(fromClient, frame)

/** Throws when a frame of the venue is not one that the document describes, to the last field. */
export function assertDocumented(frame: unknown): void {
  if (serverMessagesOf(frame).length === 1) return
  throw new Error(`not documented: ${JSON.stringify(frame).slice(0, 2_000)}`)
}
