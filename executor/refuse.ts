import type Koa from 'koa'

/** A request that cannot be answered as it is; the error funnel turns it into `{error}` with its status. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Answers `{error, …more}` with the status. */
export function refuse(
  ctx: Koa.Context,
  status: number,
  error: string,
  more: Readonly<Record<string, unknown>> = {},
): void {
  ctx.status = status
  ctx.body = { error, ...more }
}
