"""Draws what bench/peers.py has measured: bars of Respite's cost divided by each peer's, row by row."""
import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ["#4878a8", "#e0813c", "#5a9e6f", "#9467a8", "#8c8c8c"]
ROW_INCHES = 0.42


def draw(figures, folder):
    """Writes cpu.svg, setups.svg and memory.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = {"memory": [f for f in figures if f.unit == "bytes"],
              "setups": [f for f in figures if f.unit != "bytes" and is_of_setup(f)],
              "cpu": [f for f in figures if f.unit != "bytes" and not is_of_setup(f)]}
    titles = {"memory": "Memory per entry", "setups": "CPU per request with …",
              "cpu": "CPU per request"}
    for name, chosen in groups.items():
        if chosen:
            bars(chosen, titles[name] + ": Respite's over the other's", folder / f"{name}.svg")


def is_of_setup(figure):
    return "," in figure.row and "pipeline" not in figure.row and "members" not in figure.row


def bars(figures, title, path):
    # Equal figures give equal bytes: no random ids, no date.
    with plt.rc_context({"svg.hashsalt": "respite", "svg.fonttype": "none", "font.size": 9}):
        peers = list(figures[0].costs.ratios())
        picture, axes = plt.subplots(figsize=(8, 1.2 + ROW_INCHES * len(figures)), layout="constrained")
        height = 0.8 / len(peers)
        for position, peer in enumerate(peers):
            places = [row + (position - (len(peers) - 1) / 2) * height for row in range(len(figures))]
            drawn = axes.barh(places, [figure.costs.ratios().get(peer, 0) for figure in figures], height, label=peer,
                              color=COLOURS[position % len(COLOURS)])
            axes.bar_label(drawn, fmt="%.2f", padding=2, fontsize=6)
        axes.vlines([figure.costs.target.share for figure in figures], [row - 0.45 for row in range(len(figures))],
                    [row + 0.45 for row in range(len(figures))], colors="#222222", linestyles="dotted", label="target")
        floors = [(figure.floor_ratio(), row) for row, figure in enumerate(figures) if figure.floor is not None]
        if floors:
            axes.vlines([ratio for ratio, _ in floors], [row - 0.45 for _, row in floors], [row + 0.45 for _, row in floors],
                        colors="#c03028", label="bare loop")
        axes.axvline(1, color="#bbbbbb", linewidth=0.8)
        axes.set_yticks(range(len(figures)), [figure.row.removeprefix("memory: ") for figure in figures])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_title(title, fontsize=10)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=len(peers) + 2, fontsize=8, frameon=False)
        picture.savefig(path, metadata={"Date": None})
        path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))
        plt.close(picture)
