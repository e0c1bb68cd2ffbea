import { commandMessages } from '../../bus-schemas/commands.js'
import { aMarket } from './builders.js'

/** The messages of the spot market's command log. */
export const {
  encode: encodeCommands,
  encodeGroup: encodeCommandGroup,
  decode: decodeCommands,
  take: commandsOf,
} = commandMessages(aMarket())
