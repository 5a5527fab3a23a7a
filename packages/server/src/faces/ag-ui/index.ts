export { agUiRoutes } from "./routes.ts";
