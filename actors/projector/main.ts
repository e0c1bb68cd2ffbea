import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { createProjection, HISTORY_FILE, historyPath } from '../../data/history/project.js'
import { noteDamage, openDatabase } from '../../data/open.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { answerPing, runProcess } from '../../runtime/process/process.js'
import { readProjectorConfig } from './config.js'
import { openArchive } from './keep-archive.js'
import { sampleDisk } from './measure.js'
import { openWriters, startProjector } from './project.js'

const PROCESS = 'projector'
const config = orExit(readProjectorConfig)

runProcess({
  name: PROCESS,
  level: config.LOG_LEVEL,
  background: true,
  onDamage: () => noteDamage(historyPath(config.DATA_DIR)),
  start: async ({ log, fail, metrics }) => {
    const path = historyPath(config.DATA_DIR)
    const onSetAside = (told: string): void =>
      log.warn(`${told}; restart the gateways of this DATA_DIR: they still read the old file`)
    const db = openDatabase({ path, ...HISTORY_FILE, onSetAside })
    const bus = await connectArchivedBus({
      archiveDir: config.FEED_ARCHIVE_DIR,
      versions: streamVersions([]),
      config,
      user: PROCESS,
      onWarning: (message) => log.warn(message),
    })
    const register = await openRegister({ bus, log, onError: fail })
    const markets = [...register.markets]
    const projection = createProjection(db, [])
    const projector = await startProjector({
      bus,
      projection,
      markets,
      log,
      onFatal: fail,
      ...openWriters(db),
    })
    // A market that is added is measured and archived from then on.
    register.watch(async ({ market, isNew }) => {
      if (isNew) await projector.follow(market).then(() => void markets.push(market))
    })
    sampleDisk(metrics, {
      dataDir: config.DATA_DIR,
      monitorUrls: config.NATS_MONITOR_URL,
      markets,
      projectedSeq: (market) => projector.projectedSeq(market),
    })
    const archive = openArchive({ config, db, bus, markets, log })
    const pings = await answerPing(bus, PROCESS, () => projector.standing())
    return {
      async stop() {
        await pings.stop()
        await archive?.stop()
        await register.stop()
        await projector.stop()
        await bus.close()
        db.close()
      },
    }
  },
})
