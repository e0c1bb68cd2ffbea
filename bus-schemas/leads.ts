import { position, text } from '../core/wire/codec.js'
import { struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** A term of an actor whose log holds nothing else. */
export interface LeadTerm {
  /** Greater than every earlier one of the actor. */
  readonly term: number
  /** Unique to the process that leads. */
  readonly leader: string
}

/** One message of the stream of an actor's terms. */
export const {
  version: LEAD_VERSION,
  encode: encodeLead,
  decode: decodeLead,
} = message('lead', since(WIRE_VERSION, struct<LeadTerm>({ term: position, leader: text })))
