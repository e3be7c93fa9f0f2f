import React, { useState } from "react";
import { Button } from "./Button";

interface PanelProps {
  title: string;
  rows: Row[];
}

/** A list that can be folded. */
export const Panel: React.FC<PanelProps> = ({ title, rows }) => {
  const [open, setOpen] = useState(true);
  const toggle = () => setOpen((was) => !was);

  return (
    <section className="panel">
      <Button onClick={toggle}>{title}</Button>
      {open && rows.map((row) => <RowView key={row.id} row={row} />)}
    </section>
  );
};

export default function App() {
  return <Panel title="All" rows={[]} />;
}
