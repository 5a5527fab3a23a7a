import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { sessionInAddress } from "./session-id.ts";
import "./styles/index.css";

const session = sessionInAddress();
document.title = `${session} · Holdfast`;
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <App session={session} />
  </StrictMode>,
);
