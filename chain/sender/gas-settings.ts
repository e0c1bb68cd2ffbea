import { z } from 'zod'

/** An amount of wei in decimal digits. */
export const weiText = (byDefault: string) =>
  z
    .string()
    .regex(/^[0-9]{1,30}$/, 'must be whole wei in decimal digits')
    .default(byDefault)
    .transform((digits) => BigInt(digits))

/** What a key keeps, and may spend in an hour, by default: 0.01 and 0.2 ether. */
export const GAS_RESERVE_WEI = '10000000000000000'
export const GAS_BUDGET_WEI_PER_HOUR = '200000000000000000'
