import type { GatewayContext } from './context.js'

/** Answers with JSON that is text already, so that it is neither parsed nor written again. */
export function answerJson(ctx: GatewayContext, text: string): void {
  ctx.type = 'json'
  ctx.body = Buffer.from(text)
}
