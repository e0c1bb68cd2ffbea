import { runProcess } from '../bus-schemas/process.js'
import { readExecutorConfig } from './config.js'
import { serve } from './serve.js'

const config = readExecutorConfig()
runProcess({
  name: 'executor',
  level: config.LOG_LEVEL,
  start: (log) => serve(config, log),
})
