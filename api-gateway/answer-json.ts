import type { GatewayContext } from './context.js'

/** Answers with JSON that is text already, so that it is neither parsed nor written again. */
export function answerJson({ state }: Pick<GatewayContext, 'state'>, text: string): void {
  state.json = text
}
