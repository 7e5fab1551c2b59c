/** The script that runs in the workers of `host.registerWorker`. It exports nothing. The option `script` takes its URL. */
export {};
