/** Usage, as the console shows people their own and the dashboard shows administrators that of all. @module */
export * from './exported.js'
export * from './export-buttons.js'
export * from './figures.js'
export * from './period-choice.js'
export * from './periods.js'
export * from './report.js'
export * from './usage-chart.js'
export * from './usage-table.js'
