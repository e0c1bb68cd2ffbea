import { CannotStart } from '../../core/cannot-start.js'
import type { Market } from '../../core/model/market.js'
import { openRegister, type RegisterOptions } from '../../runtime/bus/market-register.js'

/** No market of that name is in the register. */
export class NotRegistered extends CannotStart {
  override readonly name = 'NotRegistered'
}

/** The market of a matcher as it is registered; a matcher uses none of its texts. Throws NotRegistered, and as openRegister. */
export async function readOwnMarket(options: RegisterOptions, name: string): Promise<Market> {
  const register = await openRegister(options)
  await register.stop()
  const market = register.markets.find((each) => each.market === name)
  if (market !== undefined) return market
  throw new NotRegistered(`MARKET ${name} is not registered: ./venue market add`)
}
