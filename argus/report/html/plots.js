// Draws each plot from the JSON beside it, in the page's own colours, light or dark, and anew when they change.
"use strict";
(() => {
  const plots = [...document.querySelectorAll(".plot")];
  const template = () => {
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, grid, panel] = ["--ink", "--soft", "--grid", "--panel"].map((name) => style.getPropertyValue(name).trim());
    const axis = { gridcolor: grid, linecolor: soft, zerolinecolor: soft, tickcolor: soft };
    const corner = { gridcolor: grid, linecolor: soft };
    // A bar's own colour would not show on it.
    const whisker = { color: ink };
    return {
      data: { bar: [{ error_x: whisker, error_y: whisker }] },
      layout: {
        font: { color: ink, family: getComputedStyle(document.body).fontFamily, size: 12 },
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        hoverlabel: { bgcolor: panel, bordercolor: soft, font: { color: ink }, align: "left" },
        xaxis: axis,
        yaxis: axis,
        ternary: { bgcolor: "rgba(0,0,0,0)", aaxis: corner, baxis: corner, caxis: corner },
      },
    };
  };
  const draw = (place) => {
    const { data, layout } = JSON.parse(place.nextElementSibling.textContent);
    const config = { displayModeBar: false, responsive: true, showTips: false };
    return Plotly.newPlot(place, data, { ...layout, dragmode: false, template: template() }, config);
  };
  const again = () => plots.forEach((place) => place.data && Plotly.relayout(place, { template: template() }));
  // All of them, whether they can be seen yet or not: a viewer that shows the page in a frame may never tell. One after
  // the other, so that the page can be read and scrolled meanwhile.
  const drawAll = async () => {
    for (const place of plots) {
      if (!place.data) await draw(place);
      await new Promise((resume) => setTimeout(resume));
    }
  };
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  // Paper is light, whatever the screen is; the page's print style comes too late for what is drawn now.
  const printing = (starts) => {
    document.documentElement.classList.toggle("printing", starts);
    plots.forEach((place) => starts && !place.data && draw(place));
    again();
  };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
})();
