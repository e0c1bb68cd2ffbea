import { z } from 'zod'

/** Of a client's frame on the WebSocket. */
export const reqId = z
  .string()
  .max(128)
  .optional()
  .describe('Chosen by the client; every reply to the frame repeats it.')
