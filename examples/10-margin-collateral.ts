/** Posts 1,000 cNGN as margin of a perpetual account, by two transactions of the owner's own. */
import { collateralCalls, createRestClient } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'
import { readPerpetual, send, until } from './perpetual.js'

const AMOUNT = '1000'

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const { perp_subaccount_id: subaccountId } = account
const venue = createRestClient(devnet.gateway_url)

const { perp } = await readPerpetual(devnet)
const [collateral] = perp.collateral_assets
if (collateral?.deposits_open !== true) throw new Error('no collateral is taken now')
console.log(`${collateral.symbol} counts at ${collateral.margin_factor} of its index value`)

const postedNow = async () => (await venue.positions(subaccountId)).accounts[0]?.collateral[0]
const before = Number(await postedNow().then((posted) => posted?.balance ?? '0'))
for (const call of collateralCalls({
  collateral,
  token: devnet.cngn,
  subaccountId,
  amount: AMOUNT,
}))
  await send(devnet, account, call)

const posted = await until(postedNow, (now) => Number(now?.balance) === before + Number(AMOUNT))
console.log(`posted ${AMOUNT} ${collateral.symbol}, ${posted?.balance} in all`)
console.log(`worth ${posted?.value_usd} USD, as margin ${posted?.margin_value_usd} USD`)
