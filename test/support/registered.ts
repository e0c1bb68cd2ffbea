import { answerRegister } from '../../actors/order-intake/register.js'
import { encodeRegistration } from '../../bus-schemas/register.js'
import { registerStream, registerSubject } from '../../bus-schemas/subjects.js'
import type { Market } from '../../core/model/market.js'
import { entryOf } from '../../core/contracts/market-register.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { CheckOperator } from '../../runtime/bus/check-operator.js'
import { readRegister } from '../../runtime/bus/market-register.js'
import { createLog } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'

const declare = (bus: Pick<Bus, 'declareStream'>): Promise<void> =>
  bus.declareStream({
    stream: registerStream,
    subject: registerSubject,
    description: 'The markets of the venue, with what their logs begin and their texts',
  })

/** Registers markets as the order intake would; resolves with the place of the registration. */
export async function registerMarkets(
  bus: Pick<Bus, 'declareStream' | 'append'>,
  markets: readonly Market[],
): Promise<number> {
  await declare(bus)
  const entries = markets.map(entryOf)
  return bus.append(registerSubject, encodeRegistration({ by: 'test', reason: 'test', entries }))
}

/** Every operator may do everything. */
export const anyOperator: CheckOperator = {
  open: () => Promise.resolve(),
  verdict: (_, { by }) => Promise.resolve({ by }),
}

const fail = (error: unknown): void => {
  throw error
}

/** Answers operators as the order intake does, also while no market is registered. */
export async function startRegister(
  bus: Bus,
  operators = anyOperator,
  onFatal: (error: unknown) => void = fail,
): Promise<RunningProcess> {
  await declare(bus)
  let register = await readRegister(bus)
  const following = await bus.follow({
    stream: registerStream,
    fromSeq: register.seq + 1,
    onError: fail,
    onMessage: async () => void (register = await readRegister(bus)),
  })
  const log = createLog('order-intake', 'silent')
  const answering = await answerRegister(
    { bus, log, operators, onFatal, now: () => register },
    'order-intake',
  )
  return {
    async stop() {
      await answering.stop()
      await following.stop()
    },
  }
}
