/** What runs in the workers of `host.registerWorker`: a script, which exports nothing. Its URL is for the option `script`. */
export {};
