// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/standard/checks.js
var MOST_ISSUES = 16;
async function parse(name, output, data, context, { abpError, log }) {
  const { issues, value } = await output.validate(data);
  if (!issues) return value;
  const message = `The answer of ${name} breaks its outputSchema: ${said(errorsOf(issues))}`;
  if (!context.stopped) log("error", message);
  throw abpError("OPERATION_FAILED", message);
}
function checkBy(name, standard, { invalid, log, text }) {
  return (params, given) => {
    const judge = ({ issues, value }) => {
      if (issues) return verdictOf(issues, invalid);
      given.params = value;
      return null;
    };
    const fail = (error) => {
      log("error", `the inputSchema of ${name} has failed:`, error);
      return invalid(`The parameters cannot be checked: ${text(error)}`);
    };
    try {
      const result = standard.validate(params);
      return result instanceof Promise ? result.then(judge).catch(fail) : judge(result);
    } catch (error) {
      return fail(error);
    }
  };
}
function verdictOf(issues, invalid) {
  const errors = errorsOf(issues);
  const path = errors[0]?.path ?? "";
  const noun = errors.length > 1 || path === "" ? "parameters" : "parameter";
  return { ...invalid(`Bad ${noun}${path === "" ? ":" : ""} ${said(errors)}`), details: { path, errors } };
}
var errorsOf = (issues) => issues.slice(0, MOST_ISSUES).map(({ message, path = [] }) => ({ path: pathOf(path), message }));
var said = (errors) => errors.map((it) => it.path === "" ? it.message : `${it.path}: ${it.message}`).join("; ");
var pathOf = (path) => [...path].map((it) => String(typeof it === "object" ? it.key : it)).join(".");
export {
  checkBy,
  parse
};
